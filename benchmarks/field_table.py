"""The lines of the field as Markdown: speed by case, a row for each peer."""

from statistics import median

from table import grid, number

HEADER = (
    "sampler", "effective draws per second", "with compilation", "this package is faster by",
    "with compilation", "indicators alone", "posterior", "worst of",
)  # fmt: skip


def tables(lines):
    """Return a heading and a table for each case."""
    cases = dict.fromkeys(line.case for line in lines)
    return "\n\n".join(
        f"### {case}\n\n{table([line for line in lines if line.case == case])}" for case in cases
    )


def table(lines):
    """Return the table of one case, the fastest sampler first."""
    peers = dict.fromkeys(line.peer for line in lines)
    done = {p: [x for x in lines if x.peer == p and x.status == "finished"] for p in peers}
    ours = {line.seed: line for line in done[next(iter(peers))]}
    finished = sorted((p for p in peers if done[p]), key=lambda p: -median_rate(done[p]))
    rows = [row(peer, done[peer], ours) for peer in finished]
    for peer in peers:
        if not done[peer]:
            (status, *_) = [line.status for line in lines if line.peer == peer]
            rows.append((peer, status, *["–"] * (len(HEADER) - 2)))
    return grid(HEADER, rows)


def median_rate(lines):
    return median(line.effective / line.seconds for line in lines)


def row(peer, lines, ours):
    whole = median(line.effective / line.whole for line in lines)
    reference = any(line.agreement == "reference" for line in lines)
    return (
        f"**{peer}**" if reference else peer,
        f"{number(median_rate(lines))} ({span(x.effective / x.seconds for x in lines)})",
        number(whole),
        "1" if reference else ratio(lines, ours, "seconds"),
        "1" if reference else ratio(lines, ours, "whole"),
        "1" if reference else ratio(lines, ours, "seconds", "indicators"),
        "reference" if reference else verdict(lines),
        ", ".join(dict.fromkeys(line.worst for line in lines)),
    )


def ratio(lines, ours, time, size="effective"):
    """Return the median over seeds of our rate over theirs; a loss is bold."""

    def rate(line):
        return getattr(line, size) / getattr(line, time)

    middle = median(rate(ours[line.seed]) / rate(line) for line in lines if line.seed in ours)
    return f"**{number(middle)}×**" if middle < 1 else f"{number(middle)}×"


def span(values):
    values = list(values)
    return f"{number(min(values))} to {number(max(values))}"


def verdict(lines):
    """Return whether posteriors agree, by seeds, with the largest difference of a probability."""
    words = dict.fromkeys(line.agreement for line in lines)
    counts = {word: sum(line.agreement == word for line in lines) for word in words}
    said = ", ".join(word if n == len(lines) else f"{word} ({n})" for word, n in counts.items())
    return f"{said}; Δ ≤ {max(line.difference for line in lines):.2f}"
