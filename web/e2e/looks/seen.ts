// What is seen of a page, without its letters: which parts it has, where its pictures lie, and where these have ink.
import type { Page } from '@playwright/test';

/** A part of the page. Boxes are in CSS pixels. */
export interface Part {
  /** Its tag; of a heading also its words. */
  name: string;
  x: number;
  width: number;
  height: number;
}

export interface SeenPicture {
  width: number;
  height: number;
  /** How much differs from the ground in each of COLUMNS x ROWS cells, as bytes in base64. */
  ink: string;
  /** The mean colour of what differs, the more coloured the more. */
  colour: [red: number, green: number, blue: number];
}

export interface Seen {
  parts: Part[];
  pictures: SeenPicture[];
  /** Texts that lie over each other, and parts that stick out of the page. */
  faults: string[];
}

export const COLUMNS = 32;
export const ROWS = 20;
const MOST_PICTURES = 8;
const CALM_MS = 150;
const PATIENCE = 40; // looks, until it is still

/** Once two looks in a row are the same. */
export async function seenOf(page: Page): Promise<Seen> {
  let before = '';
  for (let look = 0; look < PATIENCE; ++look) {
    const seen = await lookAt(page);
    const text = JSON.stringify(seen);
    if (text === before) return seen;
    before = text;
    await page.waitForTimeout(CALM_MS);
  }
  throw new Error('the page does not come to rest');
}

async function lookAt(page: Page): Promise<Seen> {
  const shot = (await page.screenshot()).toString('base64');
  const { parts, faults } = await page.evaluate(partsAndFaults);
  const pictures = await page.evaluate(picturesIn, { shot, columns: COLUMNS, rows: ROWS, most: MOST_PICTURES });
  return { parts, faults, pictures };
}

// --- in the page

function partsAndFaults(): { parts: Part[]; faults: string[] } {
  const isSeen = (element: Element) => element.checkVisibility({ visibilityProperty: true }) && element.getBoundingClientRect().width > 1;
  const elements = [...document.querySelectorAll('nav, main, footer, section[aria-label], h1, h2, h3, table, canvas, svg[role="img"], select, summary')].filter(isSeen);
  const parts = elements.map((element) => {
    const { x, width, height } = element.getBoundingClientRect();
    const words = /^h\d$/i.test(element.tagName) ? ` ${(element.textContent ?? '').trim().slice(0, 40)}` : '';
    return { name: element.tagName.toLowerCase() + words, x: Math.round(x), width: Math.round(width), height: Math.round(height) };
  });
  return { parts, faults: [...overlaps(), ...outside()] };

  function outside(): string[] {
    const wide = document.documentElement.clientWidth;
    const scrolls = (element: Element | null): boolean => element !== null && (/auto|scroll|hidden/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    return elements.filter((element) => element.tagName !== 'MAIN' && !scrolls(element.closest('main') === element ? null : element.parentElement) && element.getBoundingClientRect().right > wide + 1)
      .map((element) => `${element.tagName.toLowerCase()} sticks out`);
  }

  function overlaps(): string[] {
    interface Line { text: string; of: Element; left: number; right: number; top: number; bottom: number }
    const lines: Line[] = [];
    const walker = document.createTreeWalker(document.querySelector('main') ?? document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const of = node.parentElement!;
      if (!node.textContent?.trim() || of.closest('svg, option, .sr-only, [hidden]') || !isSeen(of)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const { left, right, top, bottom } of range.getClientRects()) lines.push({ text: node.textContent.trim(), of, left, right, top, bottom });
    }
    lines.sort((a, b) => a.top - b.top);
    const found: string[] = [];
    lines.forEach((a, i) => {
      for (let j = i + 1; j < lines.length && lines[j]!.top < a.bottom - 4; ++j) {
        const b = lines[j]!;
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - b.top;
        if (across > 3 && down > 6 && a.of !== b.of) found.push(`"${a.text.slice(0, 40)}" lies over "${b.text.slice(0, 40)}"`);
      }
    });
    return found.slice(0, 5);
  }
}

interface PictureTask {
  shot: string;
  columns: number;
  rows: number;
  most: number;
}

async function picturesIn({ shot, columns, rows, most }: PictureTask): Promise<SeenPicture[]> {
  const image = new Image();
  image.src = `data:image/png;base64,${shot}`;
  await image.decode();
  const [red = 255, green = 255, blue = 255] = (getComputedStyle(document.body).backgroundColor.match(/\d+/g) ?? []).map(Number);
  const LEAST_INK = 24; // a panel's surface is none
  const bounds = document.querySelector('main')!.getBoundingClientRect();
  const found = [...document.querySelectorAll('main canvas, main svg[role="img"]')].filter((each) => each.checkVisibility() && each.getBoundingClientRect().width >= 60);
  return found.slice(0, most).map((element) => {
    const box = element.getBoundingClientRect();
    const [left, top] = [Math.max(box.left, bounds.left), Math.max(box.top, bounds.top)];
    const width = Math.max(1, Math.round(Math.min(box.right, bounds.right) - left));
    const height = Math.max(1, Math.round(Math.min(box.bottom, bounds.bottom) - top));
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext('2d', { willReadFrequently: true })!;
    context.drawImage(image, left, top, width, height, 0, 0, width, height);
    const { data } = context.getImageData(0, 0, width, height);
    const sums = new Float64Array(columns * rows);
    const pixels = new Float64Array(columns * rows);
    const colour = [0, 0, 0];
    let weights = 0;
    for (let i = 0; i < width * height; ++i) {
      const cell = Math.floor((Math.floor(i / width) / height) * rows) * columns + Math.floor(((i % width) / width) * columns);
      const [r, g, b] = [data[4 * i]!, data[4 * i + 1]!, data[4 * i + 2]!];
      const ink = (Math.abs(r - red) + Math.abs(g - green) + Math.abs(b - blue)) / 3;
      pixels[cell]! += 1;
      if (ink < LEAST_INK) continue;
      sums[cell]! += ink;
      const weight = Math.max(r, g, b) - Math.min(r, g, b);
      colour[0]! += weight * r;
      colour[1]! += weight * g;
      colour[2]! += weight * b;
      weights += weight;
    }
    const bytes = Array.from(sums, (sum, cell) => Math.min(255, Math.round(sum / Math.max(1, pixels[cell]!))));
    const mean = colour.map((sum) => Math.round(sum / Math.max(1, weights))) as [number, number, number];
    return { width: Math.round(box.width), height: Math.round(box.height), ink: btoa(String.fromCharCode(...bytes)), colour: mean };
  });
}
