#!/usr/bin/env python3
"""Makes an assembler source and a table of the files of a built page, so that the program carries them.

usage: embed_page.py PAGE_FOLDER OUTPUT_FOLDER

Each file is compressed once, here. The same page gives the same bytes.
"""
import gzip
import pathlib
import re
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}
HASHED = re.compile(r"^assets/.*-[\w-]{8}\.\w+$")


def main() -> None:
    page, output = map(pathlib.Path, sys.argv[1:])
    output.mkdir(parents=True, exist_ok=True)
    packed, lines = bytearray(), []
    for file in sorted(page.rglob("*")):
        if not file.is_file():
            continue
        name = file.relative_to(page).as_posix()
        if file.suffix not in TYPES:
            sys.exit(f"embed_page: no content type is known for {name}; add it to TYPES")
        content = file.read_bytes()
        compressed = gzip.compress(content, 9, mtime=0)
        hashed = "true" if HASHED.match(name) else "false"
        lines.append(
            f'    File{{"{name}", "{TYPES[file.suffix]}", at({len(packed)}, {len(compressed)}), {len(content)}, {hashed}}},\n'
        )
        packed += compressed
    (output / "page.bin").write_bytes(packed)
    (output / "page_files.inc").write_text("".join(lines))
    (output / "page.S").write_text(
        "    .section .rodata\n    .global trainwarden_page_begin\n    .balign 64\ntrainwarden_page_begin:\n"
        f'    .incbin "{(output / "page.bin").resolve()}"\n    .section .note.GNU-stack,"",@progbits\n'
    )


main()
