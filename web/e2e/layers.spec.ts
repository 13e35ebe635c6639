// Layers over steps, on a run whose numbers are known: the norm of layer i at step s is 2^-(i / 30) * (1 + s / steps).
import { readFileSync } from 'node:fs';

import { axeViolations, expect, picture, test, visit } from './harness';

test('layers over steps are a map with a cursor, which leads to the tensor at the step', async ({ page, runs, server }) => {
  runs.write('layers', 'layers', 60);
  await visit(page, server, '#/run/layers/layers?step=20');
  const map = page.locator('.ly-map');
  await expect(page.locator('.layers-view[data-drawn]')).toHaveAttribute('data-step', '59');
  await expect(page.locator('.ly-odd')).toContainText('NaN or Inf in 1 of 300 layers, first at step 30 in gradient/blocks.7.weight');
  const colours = (row: number, column: number) => map.locator('canvas').evaluate((canvas: HTMLCanvasElement, [y, x]) => {
    const scale = canvas.width / canvas.clientWidth;
    return Array.from(canvas.getContext('2d')!.getImageData(Math.round(x! * scale), Math.round(y! * scale), 1, 1).data.slice(0, 3));
  }, [8 + 3 * row + 1, column]);
  const wide = (await map.boundingBox())!.width;
  expect(await colours(0, wide - 20), 'the largest norm is yellow').toEqual([253, 231, 37]);
  expect((await colours(299, wide - 20))[2], 'the smallest is dark blue').toBeGreaterThan(80);
  await picture(page, 'layers');
  await map.focus();
  for (let i = 0; i < 8; ++i) await page.keyboard.press('ArrowDown');
  for (let i = 0; i < 3; ++i) await page.keyboard.press('Shift+ArrowLeft');
  await page.keyboard.press('ArrowRight');
  await expect(page.locator('.ly-readout')).toHaveText('gradient/blocks.7.weight, step 30: no finite number; NaN at 1 of 1 step, first at step 30');
  expect(await axeViolations(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 800 });
  await expect(page.locator('.drawer summary')).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await picture(page, 'layers-390');
  await map.focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('.tn-detail h2')).toHaveText('gradient/blocks.7.weight');
  expect(page.url()).toContain('step=30');
});

test('layers of a run without gradients say what captures them', async ({ page, runs, server }) => {
  runs.write('series', 'series', 10);
  await visit(page, server, '#/run/series/layers?quantity=norm');
  await expect(page.locator('.ly-missing code')).toContainText('--include-collection gradients --keep statistics');
});

test('layers are zoomed by a drag and the wheel, a double click shows all, and what is seen is an SVG with its legend', async ({ page, runs, server }) => {
  runs.write('layers', 'layers', 60);
  await visit(page, server, '#/run/layers/layers');
  await expect(page.locator('.layers-view[data-drawn]')).toHaveAttribute('data-step', '59');
  const map = page.locator('.ly-map');
  const { x, y, width } = (await map.boundingBox())!;
  await page.mouse.move(x + 0.5 * width, y + 100);
  await page.mouse.down();
  await page.mouse.move(x + 0.75 * width, y + 120, { steps: 3 });
  await page.mouse.up();
  await expect(page).toHaveURL(/from=\d+&to=\d+/);
  const ends = () => /from=(\d+)&to=(\d+)/.exec(page.url())!.slice(1).map(Number) as [number, number];
  const [from, to] = ends();
  expect(to - from, 'a quarter of the box, which has the names too').toBeGreaterThan(14);
  expect(to - from).toBeLessThan(26);
  await page.mouse.move(x + 0.6 * width, y + 100);
  await page.mouse.wheel(0, -300);
  await expect.poll(() => ends()[1] - ends()[0]).toBeLessThan(to - from);
  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: /^SVG/ }).click()]);
  const svg = readFileSync(await download.path(), 'utf8');
  for (const part of ['Gradient norm of gradients, layers', 'logarithmic', '<image', 'blocks.0.weight', `step ${ends()[0]}`]) expect(svg, part).toContain(part);
  await page.keyboard.press('Escape');
  await map.dblclick({ position: { x: 0.6 * width, y: 60 } });
  await expect(page).not.toHaveURL(/from=/);
  expect(page.url(), 'the first click of two opens nothing').toContain('/layers/layers');
  await expect(page.getByRole('button', { name: 'Reset zoom' })).toBeDisabled();
});

test('where a long run is zoomed, each step has a column of its own', async ({ page, runs, server }) => {
  runs.write('layers', 'long', 3000);
  await visit(page, server, '#/run/long/layers?from=1000&to=1019');
  const map = page.locator('.ly-map');
  await expect(map).toBeVisible();
  const { x, y, width } = (await map.boundingBox())!;
  await expect.poll(async () => {
    await page.mouse.move(x + 0.5 * width, y + 100);
    await page.mouse.move(x + 0.6 * width, y + 100);
    return page.locator('.ly-readout').textContent();
  }).toMatch(/, step 1,0\d\d: /);
  await picture(page, 'layers-fine');
});
