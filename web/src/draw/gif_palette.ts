// The colours of one picture of a GIF: its own where they are few, else those in the middle of boxes of like ones.
const MOST_COLOURS = 255; // one place is left for what is transparent
const BITS = 5; // of each channel, by which colours are told apart
const CELLS = 1 << (3 * BITS);

export class Palette {
  constructor(
    /** 256 times red, green, blue. */
    readonly colours: Uint8Array,
    private readonly indexOfCell: Uint8Array,
  ) {}

  /** `pixel`: red in the lowest byte. */
  indexOf(pixel: number): number {
    return this.indexOfCell[cellOf(pixel)]!;
  }
}

function cellOf(pixel: number): number {
  return ((pixel & 0xf8) << 7) | ((pixel & 0xf800) >> 6) | ((pixel & 0xf80000) >> 19);
}

/** The pixels of a cell of the cube of colours: how many, and their sums by channel. */
interface Cell {
  place: number;
  count: number;
  sums: [number, number, number];
}

export function paletteOf(pixels: Uint32Array): Palette {
  const boxes = boxesOf(cellsOf(pixels));
  const colours = new Uint8Array(3 * 256);
  const indexOfCell = new Uint8Array(CELLS);
  boxes.forEach((cells, index) => {
    const count = cells.reduce((sum, cell) => sum + cell.count, 0);
    for (let channel = 0; channel < 3; channel++) {
      colours[3 * index + channel] = Math.round(cells.reduce((sum, cell) => sum + cell.sums[channel]!, 0) / count);
    }
    for (const cell of cells) indexOfCell[cell.place] = index;
  });
  return new Palette(colours, indexOfCell);
}

function cellsOf(pixels: Uint32Array): Cell[] {
  const counts = new Float64Array(CELLS);
  const sums = new Float64Array(3 * CELLS);
  for (const pixel of pixels) {
    const place = cellOf(pixel);
    counts[place]!++;
    sums[3 * place]! += pixel & 255;
    sums[3 * place + 1]! += (pixel >>> 8) & 255;
    sums[3 * place + 2]! += (pixel >>> 16) & 255;
  }
  const cells: Cell[] = [];
  counts.forEach((count, place) => {
    if (count > 0) cells.push({ place, count, sums: [sums[3 * place]!, sums[3 * place + 1]!, sums[3 * place + 2]!] });
  });
  return cells;
}

/** Median cut: the box with the widest spread is halved again and again. */
function boxesOf(cells: Cell[]): Cell[][] {
  const boxes = [spreadOf(cells)];
  while (boxes.length < MOST_COLOURS) {
    const widest = boxes.reduce((best, box) => (box.spread > best.spread ? box : best));
    if (widest.spread === 0) break; // each has one colour
    boxes.splice(boxes.indexOf(widest), 1, ...halves(widest).map(spreadOf));
  }
  return boxes.map((box) => box.cells);
}

interface Box {
  cells: Cell[];
  /** How far its colours are apart in their widest channel. */
  spread: number;
  channel: number;
}

function levelOf(cell: Cell, channel: number): number {
  return (cell.place >> (BITS * (2 - channel))) & ((1 << BITS) - 1);
}

function spreadOf(cells: Cell[]): Box {
  const spreads = [0, 1, 2].map((channel) => {
    const levels = cells.map((cell) => levelOf(cell, channel));
    return levels.reduce((a, b) => Math.max(a, b), 0) - levels.reduce((a, b) => Math.min(a, b), Infinity);
  });
  const spread = Math.max(...spreads);
  return { cells, spread, channel: spreads.indexOf(spread) };
}

/** Each has about half of the pixels, and one cell at least. */
function halves({ cells, channel }: Box): [Cell[], Cell[]] {
  const sorted = [...cells].sort((a, b) => levelOf(a, channel) - levelOf(b, channel));
  const half = sorted.reduce((sum, cell) => sum + cell.count, 0) / 2;
  let [at, sum] = [1, sorted[0]!.count];
  while (at < sorted.length - 1 && sum < half) sum += sorted[at++]!.count;
  return [sorted.slice(0, at), sorted.slice(at)];
}
