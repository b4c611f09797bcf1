"""Packs the program into a wheel: wheel.py VERSION MACHINE PROGRAM OUT.

The bytes depend on the content and SOURCE_DATE_EPOCH alone.
"""

import base64
import hashlib
import os
import sys
import time
import zipfile
from pathlib import Path

version, machine, program, out = sys.argv[1:]
here = Path(__file__).parent
stamp = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]
tag = f"py3-none-manylinux_2_17_{machine}.musllinux_1_1_{machine}"
info = f"quipu-{version}.dist-info"

files = {
    "quipu/__init__.py": ((here / "quipu/__init__.py").read_bytes(), 0o644),
    "quipu/__main__.py": ((here / "quipu/__main__.py").read_bytes(), 0o644),
    "quipu/bin/quipu": (Path(program).read_bytes(), 0o755),
    f"{info}/METADATA": (
        f"Metadata-Version: 2.1\nName: quipu\nVersion: {version}\n"
        "Summary: Agent server compatible with codex app-server, for any model provider\n"
        "License: Apache-2.0\nRequires-Python: >=3.8\n".encode(),
        0o644,
    ),
    f"{info}/WHEEL": (
        "Wheel-Version: 1.0\nGenerator: cargo-xtask-dist\nRoot-Is-Purelib: false\n".encode()
        + "".join(f"Tag: py3-none-{it}\n" for it in tag.split("-")[2].split(".")).encode(),
        0o644,
    ),
    f"{info}/entry_points.txt": (b"[console_scripts]\nquipu = quipu:main\n", 0o644),
}
record = "".join(
    f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
    for name, (data, _) in files.items()
)
files[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), 0o644)

with zipfile.ZipFile(Path(out) / f"quipu-{version}-{tag}.whl", "w") as wheel:
    for name, (data, mode) in files.items():
        entry = zipfile.ZipInfo(name, stamp)
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        wheel.writestr(entry, data)
