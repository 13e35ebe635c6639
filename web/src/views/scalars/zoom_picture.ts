// ZoomPicture: the lines of a chart as a picture, which is stretched while a hand zooms: to draw many lines anew takes
// longer than a frame. Axes, grid and marks are drawn as ever, and the lines themselves when the hand rests.
import UPlot from 'uplot';

/** So many points are drawn within a frame. */
const FEW_POINTS = 5000;

/** Stretched further than this, a picture is too coarse: the lines are drawn anew, and are the next picture. */
const MOST_STRETCH = 4;

/** Of one gesture. */
const MOST_PICTURES = 6;

/** Of the whole width: what a picture may lack at either end before the lines are drawn anew. */
const SLACK = 0.001;

/** How a line looks, as the plot is told. */
export type LineOptions = Pick<UPlot.Series, 'dash' | 'width' | 'alpha' | 'show'> & { stroke?: string };

export interface Extent {
  x: [min: number, max: number];
  y: [min: number, max: number];
}

interface Picture {
  canvas: HTMLCanvasElement;
  extent: Extent;
}

export class ZoomPicture {
  private readonly drawn = new Map<number, UPlot.Series.Paths>();
  private extent: Extent | null = null; // of what was drawn
  private pictures: Picture[] = []; // of this gesture
  private shown: Picture | null = null; // in place of the lines

  constructor(private readonly lines: readonly LineOptions[]) {}

  /** Builds the path of a line, or none while a picture stands for all of them. */
  readonly paths: UPlot.Series.PathBuilder = (plot, index, first, last) => {
    if (this.shown) return null;
    const built = linear(plot, index, first, last);
    if (built) this.drawn.set(index, built);
    else this.drawn.delete(index);
    this.extent = extentOf(plot);
    return built;
  };

  /** To be called before the plot is told to show `min` to `max`. */
  prepare(plot: UPlot, min: number, max: number): void {
    if (!this.shown && isSlow(plot)) this.take(plot);
    this.shown = finest(this.pictures, min, max);
  }

  /** To be called when the plot has drawn axes and grid. */
  draw(plot: UPlot): void {
    const now = extentOf(plot);
    if (!this.shown || !now) return;
    const { canvas, extent } = this.shown;
    const { ctx, bbox } = plot;
    const [left, width] = partOf(extent.x, now.x, canvas.width);
    const top = plot.valToPos(extent.y[1], 'y', true);
    const bottom = plot.valToPos(extent.y[0], 'y', true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.drawImage(canvas, left, 0, width, canvas.height, bbox.left, top, bbox.width, bottom - top);
    ctx.restore();
  }

  /** The hand rests: true when the lines are to be drawn anew. */
  end(): boolean {
    const had = this.shown !== null;
    this.shown = null;
    this.pictures = [];
    return had;
  }

  private take(plot: UPlot): void {
    if (!this.extent || this.drawn.size === 0 || this.pictures.length >= MOST_PICTURES) return;
    const { bbox } = plot;
    const canvas = document.createElement('canvas');
    canvas.width = bbox.width;
    canvas.height = bbox.height;
    const ctx = canvas.getContext('2d')!;
    ctx.translate(-bbox.left, -bbox.top);
    ctx.lineJoin = 'round';
    for (const [index, path] of this.drawn) strokeLine(ctx, path, this.lines[index - 1]!);
    this.pictures.push({ canvas, extent: this.extent });
  }
}

const linear = UPlot.paths.linear!();

function strokeLine(ctx: CanvasRenderingContext2D, { stroke, clip }: UPlot.Series.Paths, line: LineOptions): void {
  if (line.show === false || !(stroke instanceof Path2D)) return;
  const pixel = window.devicePixelRatio || 1;
  ctx.save();
  if (clip) ctx.clip(clip);
  ctx.strokeStyle = line.stroke ?? '';
  ctx.lineWidth = (line.width ?? 1) * pixel;
  ctx.globalAlpha = line.alpha ?? 1;
  ctx.setLineDash((line.dash ?? []).map((length) => length * pixel));
  ctx.stroke(stroke);
  ctx.restore();
}

function isSlow(plot: UPlot): boolean {
  const shown = plot.series.filter(({ show }, i) => i > 0 && show).length;
  return shown * plot.data[0].length > FEW_POINTS;
}

function extentOf({ scales }: UPlot): Extent | null {
  const { x, y } = scales;
  if (x?.min == null || x.max == null || y?.min == null || y.max == null) return null;
  return { x: [x.min, x.max], y: [y.min, y.max] };
}

/** Of those that hold all from `min` to `max` the one that is stretched least; null: none is good enough. */
export function finest<T extends { extent: Extent }>(pictures: readonly T[], min: number, max: number): T | null {
  let best: T | null = null;
  for (const picture of pictures) {
    const [low, high] = picture.extent.x;
    const slack = SLACK * (high - low);
    const holds = min >= low - slack && max <= high + slack && high - low <= MOST_STRETCH * (max - min);
    if (holds && (!best || high - low < best.extent.x[1] - best.extent.x[0])) best = picture;
  }
  return best;
}

/** Pixels of a picture from `whole[0]` to `whole[1]`: where the part begins, and how wide it is. */
export function partOf(whole: Extent['x'], part: Extent['x'], pixels: number): [left: number, width: number] {
  const scale = pixels / (whole[1] - whole[0]);
  return [(part[0] - whole[0]) * scale, (part[1] - part[0]) * scale];
}
