// The shapes of trials on a canvas.
import type { TrialShape } from './states';

/** `rim`: the colour of the ground, which keeps marks apart. */
export function drawMark(context: CanvasRenderingContext2D, shape: TrialShape, x: number, y: number, size: number, colour: string, rim: string): void {
  context.beginPath();
  if (shape === 'cross') {
    for (const turn of [1, -1]) {
      context.moveTo(x - size, y - turn * size);
      context.lineTo(x + size, y + turn * size);
    }
    stroke(context, rim, 4);
    stroke(context, colour, 2);
    return;
  }
  if (shape === 'triangle') {
    context.moveTo(x, y - size * 1.2);
    context.lineTo(x + size * 1.1, y + size * 0.8);
    context.lineTo(x - size * 1.1, y + size * 0.8);
    context.closePath();
  } else if (shape === 'square') context.rect(x - size * 0.8, y - size * 0.8, size * 1.6, size * 1.6);
  else context.arc(x, y, size, 0, 7);
  if (shape === 'ring') {
    stroke(context, colour, 2);
    return;
  }
  context.fillStyle = colour;
  context.fill();
  if (size >= 3) stroke(context, rim, 0.75); // smaller ones would be all rim
}

function stroke(context: CanvasRenderingContext2D, colour: string, width: number): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
}
