"""The arithmetic of a tape: one number from at most three."""

from __future__ import annotations

import math

import numpy as np

from pymc_exact_hmc.compilation import kernel
from pymc_exact_hmc.error_function import erfcx

# What acts on whole vectors …
GATHER, SUM, PRODUCT, LARGEST, SMALLEST = range(5)
# … and what acts entry by entry.
ADD, SUB, MUL, DIV, SWITCH, SQUARE, RECIPROCAL, NEG, COPY = range(5, 14)
EXP, EXPM1, LOG, LOG1P, LOG1MEXP, LOG2, LOG10, SQRT, POW = range(14, 23)
SOFTPLUS, SIGMOID, TANH, SIN, COS, ATAN, FLOOR, SIGN, ABS = range(23, 32)
EQ, NEQ, LT, LE, GT, GE, AND, OR, NOT, MAXIMUM, MINIMUM = range(32, 43)
LOG_GAMMA, ERF, ERFC, ERFCX, IS_NAN, IS_INF = range(43, 49)


@kernel
def apply_operation(operation, x, y, z):
    """Return what an operation makes of x, of x and y, or of x, y and z."""
    if operation == ADD:
        return x + y
    if operation == SUB:
        return x - y
    if operation == MUL:
        return x * y
    if operation == DIV:
        return x / y
    if operation == SWITCH:
        return y if x != 0.0 else z
    if operation == SQUARE:
        return x * x
    if operation == RECIPROCAL:
        return 1.0 / x
    if operation == NEG:
        return -x
    if operation == COPY:
        return x
    if operation < SOFTPLUS:
        return apply_power(operation, x, y)
    if operation < EQ:
        return apply_shape(operation, x)
    if operation < LOG_GAMMA:
        return apply_comparison(operation, x, y)
    return apply_special(operation, x)


@kernel
def apply_power(operation, x, y):
    """Return an exponential, logarithm or power."""
    if operation == EXP:
        return math.exp(x)
    if operation == EXPM1:
        return math.expm1(x)
    if operation == LOG:
        return math.log(x)
    if operation == LOG1P:
        return math.log1p(x)
    if operation == LOG1MEXP:
        return math.log(-math.expm1(x)) if x > -math.log(2.0) else math.log1p(-math.exp(x))
    if operation == LOG2:
        return math.log2(x)
    if operation == LOG10:
        return math.log10(x)
    if operation == SQRT:
        return math.sqrt(x)
    return x**y


@kernel
def apply_shape(operation, x):
    """Return a link, a trigonometric function or a rounded number."""
    if operation == SOFTPLUS:
        return max(x, 0.0) + math.log1p(math.exp(-abs(x)))
    if operation == SIGMOID:
        rise = math.exp(-abs(x))
        return 1.0 / (1.0 + rise) if x >= 0.0 else rise / (1.0 + rise)
    if operation == TANH:
        return math.tanh(x)
    if operation == SIN:
        return math.sin(x)
    if operation == COS:
        return math.cos(x)
    if operation == ATAN:
        return math.atan(x)
    if operation == FLOOR:
        return np.floor(x)
    if operation == SIGN:
        return 1.0 * (x > 0.0) - 1.0 * (x < 0.0) if x == x else np.nan
    return abs(x)


@kernel
def apply_comparison(operation, x, y):
    """Return a comparison or a logical combination; true is 1."""
    if operation == EQ:
        return 1.0 * (x == y)
    if operation == NEQ:
        return 1.0 * (x != y)
    if operation == LT:
        return 1.0 * (x < y)
    if operation == LE:
        return 1.0 * (x <= y)
    if operation == GT:
        return 1.0 * (x > y)
    if operation == GE:
        return 1.0 * (x >= y)
    if operation == AND:
        return 1.0 * (x != 0.0 and y != 0.0)
    if operation == OR:
        return 1.0 * (x != 0.0 or y != 0.0)
    if operation == NOT:
        return 1.0 * (x == 0.0)
    if x != x or y != y:
        return np.nan
    return max(x, y) if operation == MAXIMUM else min(x, y)


@kernel
def apply_special(operation, x):
    """Return a special function of a number, or what it is not."""
    if operation == LOG_GAMMA:
        return math.lgamma(x)
    if operation == ERF:
        return math.erf(x)
    if operation == ERFC:
        return math.erfc(x)
    if operation == ERFCX:
        # erfcx(−x) = 2 exp(x²) − erfcx(x)
        return erfcx(x) if x >= 0.0 else 2.0 * math.exp(x * x) - erfcx(-x)
    if operation == IS_NAN:
        return 1.0 * (x != x)
    return 1.0 * (abs(x) == np.inf)
