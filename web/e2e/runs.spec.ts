import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { axeViolations, expect, picture, test, visit } from './harness';

test('runs are listed with their state, loss and course, sorted and searched', async ({ page, runs, server }) => {
  runs.write('training', 'long-ago');
  const live = runs.live('live');
  await live.steps(4);
  await visit(page, server);
  const row = (name: string) => page.locator(`tr[data-run="${name}"]`);
  await expect(row('long-ago')).toContainText('completed');
  await expect(row('long-ago')).toContainText('72');
  await expect(row('long-ago').locator('svg path')).toHaveAttribute('d', /^M/);
  await expect(row('live')).toContainText('running');
  await expect(row('live')).toContainText('0.5'); // 2 / (3 + 1)
  expect(await axeViolations(page)).toEqual([]);
  await picture(page, 'runs-list');

  await live.steps(16);
  await expect(row('live')).toContainText('24'); // 20 of training, 4 of evaluation: without a reload
  await page.getByRole('button', { name: 'Run', exact: false }).first().click();
  await expect(page).toHaveURL(/sort=name/);
  expect(await page.locator('tbody tr[data-run]').first().getAttribute('data-run')).toBe('live');

  await page.keyboard.press('/');
  await page.keyboard.type('ago');
  await expect(row('live')).toHaveCount(0);
  await expect(page).toHaveURL(/q=ago/);
  await row('long-ago').getByRole('link').click();
  await expect(page.locator('[data-view="home"]')).toContainText('Progress');
});

test('a thousand runs are listed, few of them in the document', async ({ page, runs, server }) => {
  test.setTimeout(240_000); // most of it to write them
  runs.write('many', '.', 1000);
  await visit(page, server);
  await expect(page.locator('[data-test="count"]')).toContainText('1,000');
  await expect(page.locator('tr[data-run]').first()).toContainText('completed', { timeout: 90_000 });
  await expect(page.getByText('still being read')).toHaveCount(0, { timeout: 90_000 }); // until then these stand last
  expect(await page.locator('tr[data-run]').count()).toBeLessThan(100);
  await page.locator('.scroll').evaluate((list) => list.scrollTo(0, list.scrollHeight));
  await expect(page.locator('tr[data-run="run-00000"]')).toBeVisible();
});

test('names from a run stay names', async ({ page, runs, server }) => {
  runs.write('hostile');
  await visit(page, server, '#/run/hostile/home');
  await expect(page.locator('[data-view="home"]')).toContainText('<script>');
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await expect(page.locator('[data-view="scalars"]')).toContainText('<img src=x');
  expect(await page.title()).not.toContain('owned');
  expect(await page.locator('main img').count()).toBe(0);
});

test('the list of runs is drawn as parallel coordinates, whose ranges leave out rows', async ({ page, runs, server }) => {
  runs.write('many', '.', 3);
  for (const [i, lr] of ['0.1', '0.01', '0.00001'].entries()) {
    const file = join(runs.folder, `run-0000${i}`, 'run.json');
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), labels: { lr, data: i === 0 ? 'small <b>' : 'large' } }));
  }
  await visit(page, server);
  await expect(page.locator('tr[data-run]')).toHaveCount(3);
  await page.getByRole('button', { name: 'Parallel coordinates' }).click();
  await expect(page.getByRole('slider', { name: 'Highest lr' })).toBeVisible();
  expect(await axeViolations(page)).toEqual([]);
  await picture(page, 'runs-parallel');
  await page.getByRole('slider', { name: 'Lowest data' }).press('ArrowUp');
  await expect(page.locator('tr[data-run]')).toHaveCount(1);
  await expect(page.locator('tr[data-run="run-00000"]')).toBeVisible();
  await expect(page.locator('[data-test="count"]')).toContainText('1 of 3');
  await page.getByRole('button', { name: 'Clear the ranges' }).click();
  await expect(page.locator('tr[data-run]')).toHaveCount(3);
});

test('runs are grouped by a label, in the list and as curves with a band', async ({ page, runs, server }) => {
  runs.write('many', '.', 4);
  for (let i = 0; i < 4; ++i) {
    const file = join(runs.folder, `run-0000${i}`, 'run.json');
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), labels: { lr: i < 2 ? '0.1' : '0.01', seed: String(i) } }));
  }
  await visit(page, server);
  await expect(page.locator('tr[data-run]')).toHaveCount(4);
  await page.getByLabel('Group by').selectOption('label:lr');
  const group = page.locator('tr[data-group="lr 0.1"]');
  await expect(group).toContainText('0.1833 ± 0.024'); // the losses 1/5 and 1/6
  expect(await axeViolations(page)).toEqual([]);
  await picture(page, 'runs-grouped');
  await group.getByRole('button').click();
  await expect(page.locator('tr[data-run]')).toHaveCount(2);
  await group.getByRole('link', { name: 'curves' }).click();
  const view = page.locator('[data-view="scalars"]');
  await expect(view.locator('.chip')).toContainText('train of lr 0.1 (2 runs)');
  await view.getByLabel('Band').selectOption('range');
  await expect(page).toHaveURL(/group=label%3Alr&spread=range/);
  await expect(view.locator('[data-panel="loss"] .plot')).toHaveAttribute('aria-label', /of 1 series/);
  const plot = view.locator('[data-panel="loss"] .u-over');
  await plot.hover();
  await expect(view.locator('.scalar-tip')).toContainText('· 2 of 2 runs');
  expect(await axeViolations(page)).toEqual([]);
});
