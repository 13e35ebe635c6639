// Drawings as pixels.
import { pngOf } from '../../draw/canvas';
import type { SvgWriter } from '../../draw/svg';

/** A drawing as pixels, twice as many as it has units. */
export async function pngFrom(svg: SvgWriter): Promise<Blob> {
  const address = URL.createObjectURL(svg.toBlob());
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = 2 * svg.width;
    canvas.height = 2 * svg.height;
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await pngOf(canvas);
  } finally {
    URL.revokeObjectURL(address);
  }
}
