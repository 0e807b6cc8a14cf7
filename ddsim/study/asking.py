"""What a worker on another machine is asked before it gets work.

The question travels as text, so that a worker without ddsim, or with another, can answer it.
"""

from __future__ import annotations

from typing import Any


def ask(files: dict[str, str]) -> dict[str, Any]:
    """Say which ddsim and numpy are here, and which of these files (with their hashes) are not.

    Everything that this needs is imported here: the one who answers may not have it.
    """
    import sys
    from hashlib import sha256
    from pathlib import Path

    found: dict[str, Any] = {"python": sys.executable}
    try:
        import numpy as np

        found["numpy"] = np.__version__
        import ddsim

        found["version"] = ddsim.__version__
        from ddsim import sources

        found["source"] = sources.digest()
    except Exception as error:  # whatever an older ddsim, or something else of its name, does
        found["error"] = f"{type(error).__name__}: {error}"
    found["missing"] = [
        file
        for file, digest in files.items()
        if not Path(file).is_file()
        or not sha256(Path(file).read_bytes()).hexdigest().startswith(digest)
    ]
    return found
