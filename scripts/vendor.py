"""Fetches what the pages load and is not ours: `python -m scripts.vendor` (needs npm).

Each library has a version and the hash of its package; what does not match is not written. The files lie in
`src/infold/web/static/vendor` with their licence, as they were published.
"""

from __future__ import annotations

import base64
import hashlib
import io
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parents[1] / "src" / "infold" / "web" / "static" / "vendor"


@dataclass(frozen=True, slots=True)
class Library:
    """A package of npm: the hash of the whole, and of the one file that is kept."""

    name: str
    version: str
    package_sha512: str  # base64, as npm shows it
    file_sha256: str

    @property
    def file(self) -> str:
        """Its name among the vendored files."""
        return f"{self.name}.min.js"


LIBRARIES: Final = (
    Library(
        "d3-dispatch",
        "3.0.2",
        "sAzH4Y4nsLo8eSqw5jKiZt+LU2wZmL/qS+OkxQGjhwazB/D7TY34R/QK1eshfGr7cZEKymKZ/Haem7m+lu98Sg==",
        "5afe071dad74c14cd580f540c9ec85b0755eed78b7f9ed3e9f63b989fc41aa4b",
    ),
    Library(
        "d3-quadtree",
        "3.0.2",
        "9Lu9mqJKRbIk0d6mKDjpvPURaPdwHVK5CYbcdd0/4vBgz4ldz/7TIOse3kNERsByGNfld58KEco507AztJWyTQ==",
        "6bd9974b3efdf9c22942a6fb9a5a027ee39f81a6c27b09a3444c9e911796f439",
    ),
    Library(
        "d3-timer",
        "3.0.2",
        "1Il1aliroVSErrv5aulRBxAY+7+DnaoLIWGd1C6SsBTWDeobWiP/V69vwb8vT6abR1kKwaNe1196pmaQ1fK90A==",
        "f6b80ed73b21d01658db60d1c04adb88adc70f885346ae07d59ed69ba0348849",
    ),
    Library(
        "d3-force",
        "3.0.1",
        "kAaaHLFebBYwgi5cYBXAI8vKrQFMCD2MEswj2QuPKKbdU1wYLc8WXtS7O8F/b6POCIe3gJjY6hkDstHi1yMETQ==",
        "ed05b52ecfe280d753ebab954e4e1f24097952480a9d277be55b6ba297bf4a9b",
    ),
)


def main() -> int:
    """Fetches all of them, and writes them where all are as they should be."""
    found = {library: _fetched(library) for library in LIBRARIES}
    FOLDER.mkdir(parents=True, exist_ok=True)
    for library, (content, licence) in found.items():
        (FOLDER / library.file).write_bytes(content)
        (FOLDER / f"{library.name}.LICENSE").write_bytes(licence)
    return 0


def _fetched(library: Library) -> tuple[bytes, bytes]:
    """The file and the licence of a library."""
    with tempfile.TemporaryDirectory() as folder:
        package = f"{library.name}@{library.version}"
        subprocess.run(["npm", "pack", "--silent", package], cwd=folder, check=True, capture_output=True)  # noqa: S603, S607
        (packed,) = Path(folder).glob("*.tgz")
        data = packed.read_bytes()
    if base64.b64encode(hashlib.sha512(data).digest()).decode() != library.package_sha512:
        raise SystemExit(f"{package} is not what it was when it was chosen.")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        content = _member(archive, f"package/dist/{library.file}")
        if hashlib.sha256(content).hexdigest() != library.file_sha256:
            raise SystemExit(f"{library.file} of {package} is not what it was when it was chosen.")
        return content, _member(archive, "package/LICENSE")


def _member(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    if file is None:
        raise SystemExit(f"There is no {name} in the package.")
    return file.read()


if __name__ == "__main__":
    raise SystemExit(main())
