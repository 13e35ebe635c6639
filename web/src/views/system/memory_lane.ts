// The memory line below the calls of a window: what was in use on each device.
import type { Arrays } from '../../data/safetensors';
import { categoryOf } from '../../draw/colours';
import { bytes } from '../../draw/numbers';
import type { Theme } from '../../draw/theme';
import type { Stretch } from './time_axis';
import { firstAtLeast, lastAtMost } from '../../data/step_times';

export const MEMORY_HIGH = 64;

export interface DeviceMemory {
  device: number;
  time: Float64Array;
  total: Float64Array;
}

/** Of GET .../calls: empty where no memory was recorded. */
export function memoryIn(arrays: Arrays): DeviceMemory[] {
  const name = (part: string) => [`memory.${part}`, `memory_${part}`].find((each) => arrays.has(each));
  const [time, total, device] = [name('time_ns'), name('total'), name('device')];
  if (!time || !total) return [];
  const [times, totals] = [arrays.f64(time), arrays.f64(total)];
  const devices = device ? arrays.f64(device) : new Float64Array(times.length);
  return [...new Set(devices)].sort((a, b) => a - b).map((each) => {
    const kept = [...times.keys()].filter((i) => devices[i] === each).sort((a, b) => times[a]! - times[b]!);
    return { device: each, time: Float64Array.from(kept, (i) => times[i]!), total: Float64Array.from(kept, (i) => totals[i]!) };
  }).filter((each) => each.time.length > 0);
}

/** Of each pixel's stretch the largest total: a peak is never lost. */
export function largestByPixel({ time, total }: DeviceMemory, { from, to }: Stretch, pixels: number): Float64Array {
  const values = new Float64Array(pixels);
  const each = (to - from) / Math.max(1, pixels);
  for (let pixel = 0; pixel < pixels; ++pixel) {
    const start = lastAtMost(time, from + pixel * each); // what holds at the pixel's left edge
    const end = firstAtLeast(time, from + (pixel + 1) * each, 0, time.length);
    let most = start < 0 ? NaN : total[start]!;
    for (let i = Math.max(0, start + 1); i < end; ++i) most = most > total[i]! ? most : total[i]!;
    values[pixel] = most;
  }
  return values;
}

export function drawMemory(context: CanvasRenderingContext2D, memory: readonly DeviceMemory[], stretch: Stretch, { top, width }: { top: number; width: number }, theme: Theme): void {
  const most = memory.reduce((all, { total }) => total.reduce((a, b) => Math.max(a, b), all), 1);
  context.fillStyle = theme.muted;
  context.fillText(`memory, at most ${bytes(most)}`, 4, top + 9);
  const room = MEMORY_HIGH - 22;
  memory.forEach((each, i) => {
    const category = categoryOf(i);
    const values = largestByPixel(each, stretch, Math.max(1, Math.floor(width)));
    context.strokeStyle = theme.dark ? category.dark : category.light;
    context.lineWidth = 1.5;
    context.setLineDash([...category.dash]);
    context.beginPath();
    let pen = false;
    values.forEach((value, x) => {
      if (Number.isNaN(value)) return;
      const y = top + MEMORY_HIGH - 3 - (value / most) * room;
      if (pen) context.lineTo(x, y);
      else context.moveTo(x, y);
      pen = true;
    });
    context.stroke();
  });
  context.setLineDash([]);
}
