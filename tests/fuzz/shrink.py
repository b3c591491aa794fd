"""The plainest description that fails in the same way."""


def shrink(description, fails, *, most=60):
    """Replace one choice at a time by a plainer one, as long as the model still fails."""
    tried = 0
    smaller = True
    while smaller and tried < most:
        smaller = False
        for candidate in description.simpler():
            tried += 1
            if fails(candidate):
                description, smaller = candidate, True
                break
            if tried >= most:
                break
    return description
