import type { Page } from '@playwright/test';

import { axeViolations, expect, picture, test, visit } from './harness';

const VIEW = '[data-view="scalars"]';

test('each quantity has a panel with its NaN, is shown large on a click, and follows the run', async ({ page, runs, server }) => {
  const live = runs.live('live');
  await live.steps(20);
  await visit(page, server, '#/run/live/scalars');
  const view = page.locator(VIEW);
  await expect(view).toHaveAttribute('data-step', '23');
  await expect(view.locator('[data-section]').first()).toHaveAttribute('data-section', 'losses');
  const panel = view.locator('[data-panel="loss"]'); // of train_loss and val_loss
  const train = panel.locator('.chip').filter({ hasText: 'train_loss' });
  await expect(train).toContainText('0.1'); // 2 / 20
  await expect(train).toContainText('✕');
  await expect(panel.locator('.chip')).toHaveCount(2);
  await expect(panel.locator('.plot')).toHaveAttribute('aria-label', /train_loss: 20 numbers from 0\.1 to 2, the last 0\.1, 1 not finite/);
  expect(await axeViolations(page)).toEqual([]);
  await picture(page, 'scalars');

  await panel.getByRole('button', { name: 'loss', exact: true }).click();
  await expect(page).toHaveURL(/panel=loss/);
  const loss = view.locator('tr[data-series="train_loss"]');
  await expect(loss).toContainText('✕ 1 NaN');
  await live.step();
  await expect(view).toHaveAttribute('data-step', '24');
  await expect(loss.locator('td').nth(3)).toHaveAttribute('title', String(Math.fround(2 / 21)));
  expect(await axeViolations(page)).toEqual([]);
  await page.goBack(); // from the large panel, not out of the view
  await expect(page).not.toHaveURL(/panel=/);
  await expect(panel).toBeVisible();
});

test('a NaN that came last is what is said last', async ({ page, runs, server }) => {
  const live = runs.live('live');
  await live.steps(21); // with three evaluations between them, the 18th step of training is NaN
  await visit(page, server, '#/run/live/scalars?panel=loss&table=1');
  const nan = page.locator(`${VIEW} .legend tbody tr`).filter({ hasText: 'NaN' });
  const step = Number(await nan.locator('th').textContent());
  await page.goto(server.at(`#/run/live/scalars?to=${step}`));
  const chip = page.locator(`${VIEW} [data-panel="loss"] .chip`).filter({ hasText: 'train_loss' });
  await expect(chip).not.toContainText('NaN'); // the newest of all is a number
  await page.goto(server.at(`#/run/live/scalars?step=${step}`));
  await expect(chip).toContainText('NaN');
});

test('sections are folded and opened, panels are pinned, and the link and the browser know', async ({ page, runs, server }) => {
  runs.write('training');
  await visit(page, server, '#/run/training/scalars');
  const view = page.locator(VIEW);
  const gradients = view.locator('[data-section="gradients"], [data-section^="collection"]').first();
  await expect(view.locator('[data-panel="accuracy"]')).toBeVisible();
  await expect(gradients.locator('[data-panel]')).toHaveCount(0);
  await gradients.getByRole('button').first().click();
  await expect(gradients.locator('[data-panel]').first()).toBeVisible();
  await expect(page).toHaveURL(/open=/);

  await view.locator('[data-panel="accuracy"]').getByRole('button', { name: 'Pin' }).click();
  await expect(page).toHaveURL(/pin=accuracy/);
  await expect(view.locator('[data-section="pinned"] [data-panel="accuracy"]')).toBeVisible();

  await page.goto('about:blank');
  await page.goto(server.at('#/run/training/scalars'));
  await expect(gradients.locator('[data-panel]').first()).toBeVisible(); // this browser keeps it
});

test('the pointer tells all values of a panel, two fingers and the wheel zoom, a double click shows all', async ({ page, runs, server }) => {
  runs.write('training');
  await visit(page, server, '#/run/training/scalars');
  const panel = page.locator(`${VIEW} [data-panel="loss"]`);
  const plot = panel.locator('.u-over');
  await plot.scrollIntoViewIfNeeded();
  const box = (await plot.boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const tip = panel.locator('.scalar-tip');
  await expect(tip).toContainText('train step');
  await expect(tip).toContainText('train_loss');
  await expect(tip).toContainText('val_loss');
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -200);
  await page.keyboard.up('Control');
  await expect(page).toHaveURL(/from=\d+&to=\d+/);
  await page.mouse.dblclick(box.x + box.width / 2, box.y + box.height / 2);
  await expect(page).not.toHaveURL(/from=/);
  await page.mouse.move(0, 0);
  await expect(tip).toBeHidden();
});

test('while many lines are zoomed, their picture lies where they will be drawn', async ({ page, runs, server }) => {
  for (const name of ['a', 'b', 'c']) runs.write('series', name, 2_000);
  await visit(page, server, '#/run/a/scalars?panel=loss&runs=b%0Ac');
  await expect(page.locator('tr[data-series]')).toHaveCount(3);
  const during = await page.evaluate(async () => {
    const over = document.querySelector<HTMLElement>('.u-over')!;
    const { left, width, top } = over.getBoundingClientRect();
    for (let i = 0; i < 4; ++i) {
      over.dispatchEvent(new WheelEvent('wheel', { deltaY: -100, clientX: left + width / 4, clientY: top + 20, cancelable: true, bubbles: true }));
      await new Promise((done) => requestAnimationFrame(done));
    }
    return document.querySelector('canvas')!.toDataURL();
  });
  await expect(page).toHaveURL(/from=\d+&to=\d+/);
  const pictured = await middlesOfLines(page, during);
  expect(pictured.length).toBe(9);
  // The answer for the stretch has all its points, as the one before, and comes when it comes.
  await expect
    .poll(async () => {
      const drawn = await middlesOfLines(page, await page.evaluate(() => document.querySelector('canvas')!.toDataURL()));
      return Math.max(...drawn.map((middle, i) => Math.abs(middle - pictured[i]!)));
    })
    .toBeLessThan(8);
});

test('an answer that comes while a hand zooms does not undo it', async ({ page, runs, server }) => {
  for (const name of ['a', 'b', 'c']) runs.write('series', name, 2_000);
  const waiting: (() => void)[] = [];
  let isHeld = false;
  await page.route('**/api/v1/runs/*/series?*', async (route) => {
    if (isHeld) await new Promise<void>((go) => waiting.push(go));
    await route.continue();
  });
  await visit(page, server, '#/run/a/scalars?panel=loss&runs=b');
  await expect(page.locator('tr[data-series]')).toHaveCount(2);
  isHeld = true;
  await page.evaluate(() => (location.hash = '#/run/a/scalars?panel=loss&runs=b%0Ac'));
  await expect.poll(() => waiting.length).toBeGreaterThan(0);
  const zoom = async (): Promise<void> => page.evaluate(() => {
    const over = document.querySelector<HTMLElement>('.u-over')!;
    const { left, width, top } = over.getBoundingClientRect();
    over.dispatchEvent(new WheelEvent('wheel', { deltaY: -100, clientX: left + width / 4, clientY: top + 20, cancelable: true, bubbles: true }));
  });
  const turning = (async () => {
    for (let i = 0; i < 12; ++i) await Promise.all([zoom(), page.waitForTimeout(50)]);
  })();
  isHeld = false;
  waiting.forEach((go) => go());
  await expect(page.locator('tr[data-series]')).toHaveCount(3);
  await turning;
  await expect(page).toHaveURL(/from=[1-9]\d*&to=\d+/);
});

/** At nine places of a picture of a chart: the mean height of what has a colour. */
async function middlesOfLines(page: Page, address: string): Promise<number[]> {
  return page.evaluate(async (source) => {
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext('2d')!;
    context.drawImage(image, 0, 0);
    return Array.from({ length: 9 }, (_, i) => {
      const wide = 24;
      const { data } = context.getImageData(Math.round(((i + 1) * image.width) / 10), 0, wide, image.height);
      const heights: number[] = [];
      for (let at = 0; at < data.length; at += 4) {
        const [red, green, blue, alpha] = [data[at]!, data[at + 1]!, data[at + 2]!, data[at + 3]!];
        if (alpha > 128 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) heights.push(Math.floor(at / 4 / wide));
      }
      return heights.reduce((sum, height) => sum + height, 0) / heights.length;
    });
  }, address);
}

test('the search, the scales, the smoothing and the table stand in the link', async ({ page, runs, server }) => {
  runs.write('training');
  await visit(page, server, '#/run/training/scalars');
  const view = page.locator(VIEW);
  await view.locator('[data-search]').fill('^gradient/');
  await expect(view.locator('[data-panel]')).toHaveCount(1);
  await view.getByRole('button', { name: 'In one chart' }).click();
  await expect(view.locator('tr[data-series]')).toHaveCount(1);
  await expect(view.locator('tr[data-series]')).toContainText('gradient/conv1.weight mean');
  await view.getByLabel('Statistic', { exact: true }).selectOption('l2');
  await expect(view.locator('tr[data-series]')).toContainText('l2');
  await expect(page).toHaveURL(/of=l2/);

  await view.locator('[data-search]').fill('loss$');
  await view.getByLabel('Y', { exact: true }).selectOption('log');
  await view.getByLabel('X', { exact: true }).selectOption('relative');
  await view.getByLabel('Smooth', { exact: true }).fill('0.6');
  await view.getByLabel('Without outliers').check();
  await expect(page).toHaveURL(/smooth=0\.6/);
  await expect(page).toHaveURL(/clip=1/);
  await expect(view.locator('tr[data-series]')).toHaveCount(2);
  await picture(page, 'scalars-log-smooth');

  await view.getByLabel('X', { exact: true }).selectOption('');
  await view.getByRole('button', { name: 'As table' }).click();
  const rows = view.locator('.legend tbody tr');
  await expect(rows.filter({ hasText: 'NaN' }).locator('th')).toHaveText('20');
  await page.reload();
  await expect(rows.filter({ hasText: 'NaN' })).toHaveCount(1); // the link says it all
});

test('a stretch is asked for anew, finer', async ({ page, runs, server }) => {
  runs.write('series', 'series', 50_000);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await visit(page, server, '#/run/series/scalars?step=25000');
  const view = page.locator(VIEW);
  await expect(view).toHaveAttribute('data-step', '49999');
  await page.keyboard.press('+');
  await expect(page).toHaveURL(/from=12500&to=37500/);
  await expect.poll(() => asked.some((url) => /series\?.*from=12500/.test(url))).toBe(true);
  await page.keyboard.press('0');
  await expect(page).not.toHaveURL(/from=/);

  const plot = (await view.locator('.u-over').boundingBox())!;
  await page.mouse.move(plot.x + plot.width * 0.25, plot.y + 50);
  await page.mouse.down();
  await page.mouse.move(plot.x + plot.width * 0.5, plot.y + 60, { steps: 4 });
  await page.mouse.up();
  await expect(page).toHaveURL(/from=\d+&to=\d+/);
  await page.mouse.click(plot.x + plot.width * 0.5, plot.y + 50);
  await expect(page).not.toHaveURL(/step=25000/);
});

test('what is shown leaves as CSV, NPY, PNG and SVG', async ({ page, runs, server }) => {
  runs.write('training');
  await visit(page, server, '#/run/training/scalars');
  await expect(page.locator(VIEW)).toHaveAttribute('data-step', '71');
  await page.keyboard.press('e');
  for (const [name, ending] of [['CSV', 'csv'], ['NPY', 'npy'], ['PNG', 'png'], ['SVG', 'svg']] as const) {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name, exact: false }).filter({ hasText: `${name},` }).click();
    expect((await download).suggestedFilename()).toMatch(new RegExp(`\\.${ending}$`));
  }
});

test('what a program prints is drawn while it runs, and what could not be read is told', async ({ page, runs, server }) => {
  const printing = runs.printing('printed');
  printing.print("{'loss': 3.0, 'rate': 7.0}\n");
  await expect.poll(() => printing.isThere).toBe(true);
  await visit(page, server, '#/run/printed/scalars');
  const view = page.locator(VIEW);
  await expect(view.locator('[data-section="losses"] [data-panel="loss"]')).toBeVisible();
  await expect(view.locator('[data-section="metrics"] [data-panel="rate"]')).toBeVisible(); // the rate is no loss
  await view.locator('[data-panel="loss"]').getByRole('button', { name: 'loss', exact: true }).click();
  const loss = view.locator('tr[data-series="loss"]');
  await expect(loss).toContainText('counted: its output names no steps');
  printing.print("{'loss': nan}\n{'loss': 1.5}\n" + 'x'.repeat(70_000) + '\n');
  await expect(view).toHaveAttribute('data-step', '3');
  await expect(loss).toContainText('✕ 1 NaN');
  await expect(loss.locator('td').nth(3)).toHaveText('1.5');
  await expect(view).toContainText('Of 1 lines of the output only the beginning was read.', { timeout: 30_000 });
  expect(await axeViolations(page)).toEqual([]);
});

test('a narrow screen shows the loss first and keeps its controls in a drawer', async ({ page, runs, server }) => {
  runs.write('training');
  await page.setViewportSize({ width: 390, height: 800 });
  await visit(page, server, '#/run/training/scalars');
  const panel = page.locator(`${VIEW} [data-panel="loss"]`);
  await expect(panel.locator('canvas')).toBeInViewport({ ratio: 0.9 });
  await expect(page.locator('[data-search]')).toBeHidden();
  await page.getByText('Search, axes, smoothing').click();
  await expect(page.locator('[data-search]')).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  expect(await axeViolations(page)).toEqual([]);
  await picture(page, 'scalars-narrow');
});

test('runs are picked from the list and drawn over each other, each in its colour', async ({ page, runs, server }) => {
  for (const name of ['first', 'second', 'third']) runs.write('training', name);
  await visit(page, server);
  await expect(page.getByRole('link', { name: 'Scalars of these 3' })).toBeVisible();
  await page.getByRole('checkbox', { name: 'Pick first' }).check();
  await page.getByRole('checkbox', { name: 'Pick third' }).check();
  await page.getByRole('link', { name: 'Scalars of the 2 picked' }).click();
  const bar = page.getByRole('list', { name: 'Runs in these charts' });
  await expect(bar.getByRole('listitem')).toHaveCount(2);
  const panel = page.locator(`${VIEW} [data-panel="accuracy"]`);
  await expect(panel.locator('.chip')).toHaveCount(2);
  await expect(panel.locator('.chip').nth(1)).toContainText(/of (first|third)/);
  expect(await axeViolations(page)).toEqual([]);
  await picture(page, 'scalars-of-runs');
  await bar.getByRole('button').click();
  await expect(bar).toBeHidden();
  await expect(panel.locator('.chip')).toHaveCount(1);
});
