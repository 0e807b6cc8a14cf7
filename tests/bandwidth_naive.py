"""Deliberately naive models of training over a thin link: one bandwidth, one piece at a time."""

from ddsim.bandwidth.model import Reading, StepModel


def _sent(method: str, model: StepModel, reading: Reading, step: int) -> dict[int, float]:
    """Bits of each layer that the step sends."""
    bits = model.wire_bits(method)
    every = range(1, model.layers + 1)
    if method == "data_parallel" or (method == "diloco" and step % model.inner_steps == 0):
        return dict.fromkeys(every, bits / model.layers)
    if method != "streaming_diloco":
        return {}
    if reading.period is None:
        due = due_fragments(model, step)
    elif (step - 1) % reading.period == 0:
        due = [(step - 1) // reading.period % model.fragments]
    else:
        due = []
    sizes = {}
    for p in due:
        held = [layer for layer in every if (layer - 1) % model.fragments == p]
        sizes.update({layer: bits / model.fragments / len(held) for layer in held})
    return sizes


def due_fragments(model: StepModel, step: int) -> list[int]:
    """Fragments due at a step under even staggering."""
    offset = step % model.inner_steps
    return [p for p in range(model.fragments) if offset == p * model.inner_steps // model.fragments]


def lock_step(
    method: str, model: StepModel, rate: float, steps: int, reading: Reading
) -> list[float]:
    """Times at which the steps end."""
    delay = model.overlap_steps if method == "streaming_diloco" else 0
    now = link_free = 0.0
    arrival: dict[tuple[int, int], float] = {}
    ends = []
    for step in range(1, steps + 1):
        if reading.release == "end_of_step":
            now = max([now, *(t for (due, _), t in arrival.items() if due == step)])
        for layer in range(1, model.layers + 1):
            now = max(now, arrival.pop((step, layer), 0.0)) + model.piece
        released = {}
        for layer in range(model.layers, 0, -1):
            now += model.piece * (2 if layer > 1 else 1)
            released[layer] = now
        sizes = _sent(method, model, reading, step)
        for layer in sorted(sizes, reverse=True):
            ready = released[layer] if reading.release == "by_layer" else now
            link_free = max(link_free, ready) + sizes[layer] / rate
            arrival[step + 1 + delay, layer] = link_free + model.collective_latency
        ends.append(now)
    return ends


def decoupled(model: StepModel, rate: float, steps: int) -> list[float]:
    """Times at which the steps and the waits after them end: one exchange follows another."""
    queue: list[tuple[float, float]] = []  # (when it may begin, bits), by slots
    slots: dict[int, int] = {}
    now = 0.0
    ends = []

    def drained(place: int) -> float:
        free = 0.0
        for begins, bits in queue[: place + 1]:
            free = max(free, begins) + bits / rate
        return free

    for step in range(1, steps + 1):
        now += model.step_time
        if due := due_fragments(model, step):
            slots[step] = len(queue)
            queue.append((now, len(due) * model.wire_bits("decoupled_diloco") / model.fragments))
        awaited = step - model.overlap_steps
        if awaited in slots:
            now = max(now, drained(slots[awaited]) + model.collective_latency)
        ends.append(now)
    return ends
