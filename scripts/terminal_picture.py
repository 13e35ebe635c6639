#!/usr/bin/python3
"""Draws what a program wrote to a colour terminal as an SVG: the pictures of the documents.

PATH=$PWD/build/release/bin:$PATH COLORTERM=truecolor \\
  script -qec 'trainwarden demo 2>/dev/null' /dev/null | sed "s#$PWD/##g" |
  scripts/terminal_picture.py > docs/images/demo.svg
"""
import html
import re
import sys

CELL_WIDTH, CELL_HEIGHT, MARGIN, COLUMNS = 8, 17, 14, 112
FOREGROUND, BACKGROUND = "#d6d9de", "#15181d"
ESCAPE = re.compile(r"\x1b\[([0-9;]*)m|\x1b\[[0-9;?]*[A-Za-z]")
BASIC = ["#15181d", "#e5686b", "#7fb77e", "#d9b05f", "#6ea0d8", "#b58bd0", "#6fb8b8", "#d6d9de"]


def next_style(style, codes):
    """The (foreground, background, bold) after a sequence of SGR codes."""
    foreground, background, bold = style
    numbers = [int(code or 0) for code in codes.split(";")]
    while numbers:
        code = numbers.pop(0)
        if code == 0:
            foreground, background, bold = FOREGROUND, None, False
        elif code == 1:
            bold = True
        elif code in (38, 48) and numbers and numbers[0] == 2:
            colour = "#%02x%02x%02x" % tuple(numbers[1:4])
            del numbers[:4]
            foreground, background = (colour, background) if code == 38 else (foreground, colour)
        elif 30 <= code <= 37:
            foreground = BASIC[code - 30]
        elif 90 <= code <= 97:
            foreground = BASIC[code - 90]
    return foreground, background, bold


def spans(line, style):
    """Pieces (row, column, text, style) of one line, wrapped at the width; how many rows it takes; the style after it."""
    pieces, cell, position = [], 0, 0
    for match in list(ESCAPE.finditer(line)) + [None]:
        text = line[position : match.start() if match else len(line)]
        while text:
            row, column = divmod(cell, COLUMNS)
            fitting = text[: COLUMNS - column]
            pieces.append((row, column, fitting, style))
            cell += len(fitting)
            text = text[len(fitting) :]
        if match:
            position = match.end()
            if match.group(1) is not None:
                style = next_style(style, match.group(1))
    return pieces, max(1, -(-cell // COLUMNS)), style


def draw(column, row, text, style):
    foreground, background, bold = style
    x, y = MARGIN + column * CELL_WIDTH, MARGIN + row * CELL_HEIGHT
    width = len(text) * CELL_WIDTH
    if set(text) == {"▀"}:  # half blocks are drawn as what they are, whatever the font
        half = CELL_HEIGHT / 2
        yield f'<rect x="{x}" y="{y}" width="{width}" height="{half}" fill="{foreground}"/>'
        if background:
            yield f'<rect x="{x}" y="{y + half}" width="{width}" height="{half}" fill="{background}"/>'
        return
    if background:
        yield f'<rect x="{x}" y="{y}" width="{width}" height="{CELL_HEIGHT}" fill="{background}"/>'
    if text.strip():
        weight = ' font-weight="bold"' if bold else ""
        yield (f'<text x="{x}" y="{y + 13}" fill="{foreground}" textLength="{width}"{weight} '
               f'xml:space="preserve">{html.escape(text)}</text>')


def main():
    lines = sys.stdin.read().replace("\r\n", "\n").rstrip("\n").split("\n")
    lines = [line.rpartition("\r")[2] for line in lines]
    body, style, first_row = [], (FOREGROUND, None, False), 0
    for line in lines:
        pieces, rows, style = spans(line, style)
        for row, column, text, piece_style in pieces:
            body.extend(draw(column, first_row + row, text, piece_style))
        first_row += rows
    width, height = 2 * MARGIN + COLUMNS * CELL_WIDTH, 2 * MARGIN + first_row * CELL_HEIGHT
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
          f'viewBox="0 0 {width} {height}" font-family="monospace" font-size="13" shape-rendering="crispEdges">')
    print(f'<rect width="{width}" height="{height}" rx="8" fill="{BACKGROUND}"/>')
    print("\n".join(body))
    print("</svg>")


if __name__ == "__main__":
    main()
