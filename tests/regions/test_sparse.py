"""The entries of F that are not zero say the same as all of them."""

import numpy as np
import pytest
from region_cases import EYE, REGIONS

from pymc_exact_hmc.regions.region import make_region, violated
from pymc_exact_hmc.regions.sparse import (
    along_row,
    gather_columns,
    gather_rows,
    inside,
    make_sparse,
)

F = np.array([[0.0, 2.0, -1.0, 0.0], [0.0, 0.0, 0.0, 0.0], [-3.0, 1e-300, 0.0, 0.5]])
W = np.array([0.7, -1.1, 0.4, 2.0])


def dense(lines, length):
    """The matrix that was gathered."""
    out = np.zeros((lines.start.size - 1, length))
    for k in range(len(out)):
        part = slice(lines.start[k], lines.start[k + 1])
        out[k, lines.place[part]] = lines.entry[part]
    return out


def test_rows_and_columns():
    """All entries of either sign, also after others were gathered; rows take what has room."""
    rows, columns, first = make_sparse(3, 4), make_sparse(4, 3), make_sparse(2, 4)
    for matrix in (np.ones((3, 4)), F):
        gather_rows(matrix, rows)
        gather_columns(matrix, columns)
        gather_rows(matrix, first)
        np.testing.assert_array_equal(dense(rows, 4), matrix)
        np.testing.assert_array_equal(dense(columns, 3), matrix.T)
        np.testing.assert_array_equal(dense(first, 4), matrix[:2])
    for k in range(3):
        assert along_row(rows, k, W, 0.3) == pytest.approx(0.3 + F[k] @ W, rel=1e-15)


@pytest.mark.parametrize("name", REGIONS)
def test_inside_is_what_violates_nothing(name):
    """For linear walls, quadratic ones and products; a point that is not a number is outside."""
    region, rng = REGIONS[name], np.random.default_rng(21)
    m, q = region.g.size, len(region.Q)
    rows = make_sparse(m - q, 2)
    gather_rows(region.F, rows)
    found = [inside(region, rows, w) for w in rng.normal(size=(300, 2))]
    rng = np.random.default_rng(21)
    assert found == [violated(region, w) < 0 for w in rng.normal(size=(300, 2))]
    assert 0 < sum(found) < 300
    assert not inside(region, rows, np.full(2, np.nan))


def test_walls_themselves_are_inside_and_what_is_beyond_them_is_not():
    """However little it is beyond."""
    region, rows = make_region(EYE, [0.0, 0.0]), make_sparse(2, 2)
    gather_rows(region.F, rows)
    assert inside(region, rows, np.zeros(2))
    assert not inside(region, rows, np.array([1.0, -1e-300]))
