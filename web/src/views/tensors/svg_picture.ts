// A drawing of pixels as an SVG document.
import { SvgWriter } from '../../draw/svg';

export async function svgOfPng(png: Blob | undefined, width: number, height: number, title: string): Promise<Blob | undefined> {
  if (!png) return undefined;
  const bytes = new Uint8Array(await png.arrayBuffer());
  let text = '';
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return new SvgWriter(width, height, title).image(`data:image/png;base64,${btoa(text)}`, 0, 0, width, height).toBlob();
}
