// Viewport: which part of a large matrix is in sight, and how large a cell is. Pure arithmetic.

export interface Size {
  width: number;
  height: number;
}

/** Of a matrix that fits without being made smaller. */
export const LARGEST_CELL_PX = 32;

export class Viewport {
  /** Columns and rows in a pixel's place: cell (x, y) is at the picture's left top corner. */
  x = 0;
  y = 0;
  /** Pixels a cell. */
  scale = 1;

  constructor(private readonly matrix: Size, private sight: Size) {
    this.fit();
  }

  /** Sees all of it, in cells that are not too large. */
  fit(): void {
    this.scale = this.least();
    this.x = this.y = 0;
    this.clamp();
  }

  resize(sight: Size): void {
    const whole = this.scale <= this.least() * 1.001;
    this.sight = sight;
    if (whole) this.fit();
    else this.clamp();
  }

  /** The cell under (px, py) stays where it is. */
  zoom(factor: number, px: number, py: number): void {
    const [column, row] = this.cellAt(px, py);
    this.scale = Math.min(64, Math.max(this.least(), this.scale * factor));
    this.x = column - px / this.scale;
    this.y = row - py / this.scale;
    this.clamp();
  }

  /** By pixels. */
  pan(dx: number, dy: number): void {
    this.x += dx / this.scale;
    this.y += dy / this.scale;
    this.clamp();
  }

  centre(column: number, row: number): void {
    this.x = column - this.sight.width / this.scale / 2;
    this.y = row - this.sight.height / this.scale / 2;
    this.clamp();
  }

  /** Moves no more than it must for the cell to be in sight. */
  reveal(column: number, row: number): void {
    const [wide, high] = [this.sight.width / this.scale, this.sight.height / this.scale];
    this.x = Math.min(column, Math.max(this.x, column + 1 - wide));
    this.y = Math.min(row, Math.max(this.y, row + 1 - high));
    this.clamp();
  }

  /** The place under a pixel, in cells with fractions. */
  cellAt(px: number, py: number): [column: number, row: number] {
    return [this.x + px / this.scale, this.y + py / this.scale];
  }

  /** A pixel of that level covers 2^level cells a side: the finest that has no more pixels than the picture. */
  level(levels: number): number {
    return Math.min(levels - 1, Math.max(0, Math.ceil(Math.log2(1 / this.scale))));
  }

  /** The tiles of a level that are in sight: first and last column, first and last row. */
  tiles(level: number, side: number): [number, number, number, number] {
    const cells = side * 2 ** level;
    const last = (cellCount: number, seen: number): number => Math.max(0, Math.ceil(Math.min(cellCount, seen) / cells) - 1);
    return [
      Math.floor(this.x / cells), last(this.matrix.width, this.x + this.sight.width / this.scale),
      Math.floor(this.y / cells), last(this.matrix.height, this.y + this.sight.height / this.scale),
    ];
  }

  get whole(): boolean {
    return this.scale <= this.least() * 1.001;
  }

  private least(): number {
    return Math.min(LARGEST_CELL_PX, this.sight.width / Math.max(1, this.matrix.width), this.sight.height / Math.max(1, this.matrix.height));
  }

  private clamp(): void {
    this.x = Math.max(0, Math.min(this.x, this.matrix.width - this.sight.width / this.scale));
    this.y = Math.max(0, Math.min(this.y, this.matrix.height - this.sight.height / this.scale));
  }
}
