import { axeViolations, expect, picture, test, visit } from './harness';

const VIEW = '[data-view="scalars"]';

test('losses are drawn with their NaN, told exactly, and follow the run', async ({ page, runs, server }) => {
  const live = runs.live('live');
  await live.steps(20);
  await visit(page, server, '#/run/live/scalars');
  const view = page.locator(VIEW);
  await expect(view).toHaveAttribute('data-step', '23');
  const loss = view.locator('tr[data-series="train_loss"]');
  await expect(loss).toContainText('✕ 1 NaN');
  await expect(loss.locator('td').nth(3)).toHaveText('0.1'); // 2 / 20
  await expect(view.locator('.plot')).toHaveAttribute('aria-label', /train_loss: 20 numbers from 0\.1 to 2, the last 0\.1, 1 not finite/);

  await live.step();
  await expect(view).toHaveAttribute('data-step', '24');
  await expect(loss.locator('td').nth(3)).toHaveAttribute('title', String(Math.fround(2 / 21)));
  expect(await axeViolations(page)).toEqual([]);
  await picture(page, 'scalars');
});

test('the search, the scales, the smoothing and the table stand in the link', async ({ page, runs, server }) => {
  runs.write('training');
  await visit(page, server, '#/run/training/scalars');
  const view = page.locator(VIEW);
  await view.locator('[data-search]').fill('^gradient/');
  await expect(view.locator('tr[data-series]')).toHaveCount(1);
  await expect(view.locator('tr[data-series]')).toContainText('gradient/conv1.weight mean');
  await view.getByLabel('Number', { exact: true }).selectOption('l2');
  await expect(view.locator('tr[data-series]')).toContainText('l2');
  await expect(page).toHaveURL(/of=l2/);

  await view.locator('[data-search]').fill('loss$');
  await view.getByLabel('Y', { exact: true }).selectOption('log');
  await view.getByLabel('X', { exact: true }).selectOption('relative');
  await view.getByLabel('Smooth', { exact: true }).fill('0.6');
  await expect(page).toHaveURL(/smooth=0\.6/);
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
  const loss = view.locator('tr[data-series="loss"]');
  await expect(loss).toContainText('counted: its output names no steps');
  await expect(view.locator('tr[data-series]')).toHaveCount(1); // the rate is no loss
  printing.print("{'loss': nan}\n{'loss': 1.5}\n" + 'x'.repeat(70_000) + '\n');
  await expect(view).toHaveAttribute('data-step', '3');
  await expect(loss).toContainText('✕ 1 NaN');
  await expect(loss.locator('td').nth(3)).toHaveText('1.5');
  await expect(view).toContainText('Of 1 lines of the output only the beginning was read.', { timeout: 30_000 });
  await view.locator('[data-search]').fill('metrics');
  await expect(view.locator('tr[data-series]')).toHaveCount(2);
  expect(await axeViolations(page)).toEqual([]);
});
