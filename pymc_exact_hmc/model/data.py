"""The data that a model holds, so that a change of it is noticed."""

from __future__ import annotations

import hashlib
from typing import Any, TypeAlias

import numpy as np
from pymc.exceptions import SamplingError
from pymc.model import Model
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.type import RandomType

Tensor: TypeAlias = Variable[Any, Any]


class Data:
    """Remembers the contents of every ``pm.Data`` and shared variable that a model uses.

    What was recognised in a model holds for these data only.
    """

    def __init__(self, model: Model):
        ends = [*model.basic_RVs, *model.potentials, *model.rvs_to_values.values()]
        self._shared = [
            v
            for v in ancestors(ends)
            if hasattr(v, "get_value") and not isinstance(v.type, RandomType)
        ]
        self._contents = self._read()

    def _read(self) -> str:
        digest = hashlib.sha256()
        for variable in self._shared:
            value = np.asarray(variable.get_value(borrow=True))
            digest.update(repr((variable.name, value.shape)).encode())
            digest.update(np.ascontiguousarray(value).tobytes())
        return digest.hexdigest()

    def check(self) -> None:
        """Raise ``SamplingError`` if the data are not those that were remembered."""
        if self._read() != self._contents:
            raise SamplingError(
                "The data of the model have changed since this ExactBinaryHMC was made. Make a "
                "new one: pm.sample(step=ExactBinaryHMC())."
            )
