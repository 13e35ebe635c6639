// A surface as a picture under the marks of a plot: colours where something is known, hatched where nothing is.
import { paint, type Lut } from '../../draw/colours';
import type { Surface } from './surface';
import type { Ground } from './xy_plot';

const HATCH = 9; // CSS pixels from line to line

/** `place` is where a value lies on the colour scale, from 0 to 1. */
export function surfaceImage({ columns, rows, values }: Surface, lut: Lut, place: (value: number) => number): HTMLCanvasElement | null {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [columns, rows];
  const context = canvas.getContext('2d');
  if (!context) return null;
  const image = context.createImageData(columns, rows);
  values.forEach((value, at) => {
    if (Number.isNaN(value)) return; // stays transparent
    const [row, column] = [Math.floor(at / columns), at % columns];
    paint(lut, place(value), image.data, 4 * ((rows - 1 - row) * columns + column)); // images begin above
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

export function drawSurface({ context, left, top, width, height, theme }: Ground, image: HTMLCanvasElement, smooth: boolean): void {
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.beginPath();
  for (let x = left - height; x < left + width; x += HATCH) {
    context.moveTo(x, top + height);
    context.lineTo(x + height, top);
  }
  context.stroke();
  context.imageSmoothingEnabled = smooth;
  context.drawImage(image, left, top, width, height);
  context.restore();
}
