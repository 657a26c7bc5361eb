"""Adam, AdaGrad and SGD in Keras' form, two of them row-sparse; clipping and L2 penalties."""

from collections.abc import Sequence

import numpy as np


def sum_rows(rows: np.ndarray, gradients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Adds the gradients of equal rows.

    Args:
        rows: Row numbers, repeats allowed, `(n,)`.
        gradients: One gradient each, `(n, dim)`.

    Returns:
        The distinct rows, ascending, `(k,)`, and their gradients, `(k, dim)`.
    """
    totals: dict[int, np.ndarray] = {}
    gradients = np.asarray(gradients, float)
    for row, gradient in zip(np.asarray(rows, int).tolist(), gradients, strict=True):
        totals[row] = totals[row] + gradient if row in totals else gradient.copy()
    distinct = sorted(totals)
    if not distinct:
        return np.zeros(0, int), np.zeros((0, *gradients.shape[1:]))
    return np.array(distinct), np.stack([totals[row] for row in distinct])


class Adam:
    """Adam with bias correction (Kingma and Ba, 2015), epsilon where Keras has it.

    m and v start at 0. In step t, counted from 1:

        m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2
        w = w - learning_rate sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + epsilon)

    This is m_hat / (sqrt(v_hat) + epsilon / sqrt(1 - b2^t)) of the paper's algorithm 1: equal to
    it for epsilon 0 only.

    Args:
        learning_rate: The step size.
        beta_1: Decay of m.
        beta_2: Decay of v.
        epsilon: Added outside the root.
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
    ):
        self.learning_rate = learning_rate
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.t = 0
        self.m: np.ndarray | None = None
        self.v: np.ndarray | None = None

    def _update(self, w, gradient, index) -> np.ndarray:
        """Updates the moments and the weights at `index` and counts the step."""
        w = np.array(w, float)
        if self.m is None:
            self.m, self.v = np.zeros_like(w), np.zeros_like(w)
        self.t += 1
        self.m[index] = self.beta_1 * self.m[index] + (1 - self.beta_1) * gradient
        self.v[index] = self.beta_2 * self.v[index] + (1 - self.beta_2) * gradient**2
        alpha = self.learning_rate * np.sqrt(1 - self.beta_2**self.t) / (1 - self.beta_1**self.t)
        w[index] -= alpha * self.m[index] / (np.sqrt(self.v[index]) + self.epsilon)
        return w

    def step(self, w: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """Returns the weights after one step; `w` is unchanged."""
        return self._update(w, np.asarray(gradient, float), ...)


class LazyAdam(Adam):
    """Adam on rows: rows a step doesn't touch keep their weights and moments.

    t counts all steps, also those that don't touch a row, so a row's bias correction is that of
    the global step. Arguments as for `Adam`.
    """

    def step(self, w: np.ndarray, rows: np.ndarray, gradients: np.ndarray) -> np.ndarray:
        """Returns the table after one step.

        Args:
            w: Table, `(num_rows, dim)`; not changed.
            rows: Row numbers, repeats allowed, `(n,)`.
            gradients: One gradient each, `(n, dim)`; those of equal rows are added first.

        Returns:
            New table, `(num_rows, dim)`.
        """
        rows, gradients = sum_rows(rows, gradients)
        return self._update(w, gradients, rows)


class Adagrad:
    """AdaGrad (Duchi et al., 2011) as Keras has it.

        a = a + g^2;  w = w - learning_rate g / sqrt(a + epsilon)

    Args:
        learning_rate: The step size.
        initial_accumulator_value: Where a starts.
        epsilon: Added inside the root.
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
    ):
        self.learning_rate = learning_rate
        self.initial_accumulator_value = initial_accumulator_value
        self.epsilon = epsilon
        self.accumulator: np.ndarray | None = None

    def _update(self, w, gradient, index) -> np.ndarray:
        """Updates the accumulator and the weights at `index`."""
        w = np.array(w, float)
        if self.accumulator is None:
            self.accumulator = np.full_like(w, self.initial_accumulator_value)
        self.accumulator[index] += gradient**2
        w[index] -= self.learning_rate * gradient / np.sqrt(self.accumulator[index] + self.epsilon)
        return w

    def step(self, w: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """Returns the weights after one step; shapes as for `Adam.step`."""
        return self._update(w, np.asarray(gradient, float), ...)


class LazyAdagrad(Adagrad):
    """AdaGrad on rows; equals the dense form, where a zero gradient changes nothing.

    Arguments as for `Adagrad`.
    """

    def step(self, w: np.ndarray, rows: np.ndarray, gradients: np.ndarray) -> np.ndarray:
        """Returns the table after one step; shapes as for `LazyAdam.step`."""
        rows, gradients = sum_rows(rows, gradients)
        return self._update(w, gradients, rows)


class MomentumSgd:
    """Gradient descent with momentum as Keras has it.

        m = momentum m - learning_rate g;  w = w + m

    Args:
        learning_rate: The step size.
        momentum: Share of the last step that is kept.
    """

    def __init__(self, learning_rate: float = 0.2, momentum: float = 0.95):
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.m: np.ndarray | float = 0.0

    def step(self, w: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """Returns the weights after one step; shapes as for `Adam.step`."""
        self.m = self.momentum * self.m - self.learning_rate * np.asarray(gradient, float)
        return np.asarray(w, float) + self.m


def global_norm(gradients: Sequence[np.ndarray]) -> float:
    """Returns the norm of all numbers of all arrays; of a table, those from `sum_rows`."""
    return float(np.sqrt(sum(float((np.asarray(array, float) ** 2).sum()) for array in gradients)))


def clip_by_global_norm(gradients: Sequence[np.ndarray], clip_norm: float) -> list[np.ndarray]:
    """Scales all gradients by one factor so that their global norm is at most `clip_norm`."""
    norm = global_norm(gradients)
    scale = clip_norm / norm if norm > clip_norm else 1.0
    return [np.asarray(array, float) * scale for array in gradients]


def _penalized(w, initial, rows) -> np.ndarray:
    """Returns w - initial, zero outside `rows` if these are given."""
    w = np.asarray(w, float)
    difference = w - (0.0 if initial is None else np.asarray(initial, float))
    if rows is None:
        return difference
    kept = np.zeros_like(difference)
    for row in np.asarray(rows, int).tolist():
        kept[row] = difference[row]
    return kept


def l2_gradient(
    w: np.ndarray,
    strength: float,
    initial: np.ndarray | None = None,
    rows: np.ndarray | None = None,
) -> np.ndarray:
    """Returns strength * (w - initial), the gradient of 0.5 * strength * ||w - initial||^2.

    Args:
        w: Weights, any shape.
        strength: lambda.
        initial: Where to pull to, of w's shape; 0 by default.
        rows: Only these rows count, each once however often it is named; all by default.
    """
    return strength * _penalized(w, initial, rows)
