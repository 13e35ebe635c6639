// The places of experiments and of lineage.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { axeViolations, expect, picture, Server, test, visit } from './harness';

for (const scheme of ['light', 'dark'] as const) {
  test(`an experiment is a table of components, and each leads to its lineage, in ${scheme}`, async ({ page, runs }) => {
    const folder = join(runs.folder, 'work/experiments');
    const experiment = (...words: string[]) => runs.trainwarden('experiment', ...words, '--experiments', folder);
    mkdirSync(join(runs.folder, 'work/data'), { recursive: true });
    writeFileSync(join(runs.folder, 'work/data/train.bin'), 'train');
    writeFileSync(join(runs.folder, 'work/model.tar.gz'), 'model');
    experiment('create', 'digits', '--description', 'Which optimizer? <b>bold</b>', '--trial', 'cnn');
    const data = `train=${join(runs.folder, 'work/data')}`;
    experiment('log', 'prepare-1', '--experiment', 'digits', '--trial', 'cnn', '--param', 'rows=60000', '--output', data, '--input', 'raw=s3://bucket/a/very/long/path/to/the/raw/data/of/digits');
    for (const [i, lr] of [0.1, 0.01, 0.001].entries()) {
      experiment('log', `train-${i}`, '--experiment', 'digits', '--trial', 'cnn', '--param', `lr=${lr}`, '--metric', `loss=${1 / (i + 1)}`, '--status', 'Completed', '--input', data);
    }
    experiment('log', 'train-2', '--output', `model=${join(runs.folder, 'work/model.tar.gz')}`);
    const server = await Server.start(runs.folder, '--experiments', folder);
    await page.emulateMedia({ colorScheme: scheme });
    await visit(page, server, '#/experiments');
    await expect(page.locator('tr[data-row="digits"]')).toContainText('Which optimizer? <b>bold</b>');
    await picture(page, `experiments-${scheme}`);
    await page.getByRole('link', { name: 'digits' }).click();
    await expect(page.locator('tr[data-row]')).toHaveCount(4);
    await page.getByPlaceholder('loss<0.1').fill('loss<0.6');
    await expect(page.locator('tr[data-row]')).toHaveCount(2);
    await expect(page).toHaveURL(/q=loss/);
    expect(await axeViolations(page)).toEqual([]);
    await picture(page, `experiment-${scheme}`);
    await page.getByRole('link', { name: 'Lineage of train-2' }).click();
    await expect(page.locator('.lineage-graph a.start')).toContainText('train-2');
    for (const name of ['prepare-1', 'data', 'model.tar.gz']) await expect(page.locator('.lineage-graph')).toContainText(name);
    await expect(page.locator('thead')).toContainText('Name/Source');
    await expect(page.locator('tbody')).toContainText('ContributedTo');
    expect(await axeViolations(page)).toEqual([]);
    await picture(page, `lineage-${scheme}`);
    await page.locator('.lineage-graph a', { hasText: 'model.tar.gz' }).click();
    await expect(page.locator('.lineage-graph a.start')).toContainText('model.tar.gz');
    await page.goBack();
    await expect(page.locator('.lineage-graph a.start')).toContainText('train-2');
    server.close();
  });
}

test('the table of components is drawn as parallel coordinates, whose ranges leave out rows', async ({ page, runs }) => {
  const folder = join(runs.folder, 'work/experiments');
  const experiment = (...words: string[]) => runs.trainwarden('experiment', ...words, '--experiments', folder);
  experiment('create', 'digits');
  for (const [i, lr] of [0.1, 0.01, 0.001].entries()) experiment('log', `train-${i}`, '--experiment', 'digits', '--param', `lr=${lr}`, '--metric', `loss=${1 / (i + 1)}`, '--status', 'Completed');
  const server = await Server.start(runs.folder, '--experiments', folder);
  await visit(page, server, '#/experiments?experiment=digits');
  const toggle = page.getByRole('button', { name: 'Parallel coordinates' });
  await toggle.click();
  await expect(page).toHaveURL(/axes=1/);
  await expect(page.getByRole('slider', { name: 'Highest loss' })).toBeVisible();
  expect(await axeViolations(page)).toEqual([]);
  const lowest = page.getByRole('slider', { name: 'Lowest loss' });
  for (let i = 0; i < 2; ++i) await lowest.press('PageUp'); // a half of the axis: 0.67 and more
  await expect(page.locator('tr[data-row]')).toHaveCount(1);
  await expect(page.locator('tr[data-row="train-0"]')).toBeVisible();
  await page.getByRole('button', { name: 'Clear the ranges' }).click();
  await expect(page.locator('tr[data-row]')).toHaveCount(3);

  const box = (await page.locator('.parallel-field canvas').first().boundingBox())!;
  const [left, right] = [box.x + 64, box.x + box.width - 64];
  await page.mouse.move(left + (right - left) * 0.1, box.y + 34); // near the top of the first axis: the largest loss
  await expect(page.locator('tr.marked')).toHaveAttribute('data-row', 'train-0');
  await toggle.click();
  await expect(page.getByRole('slider', { name: 'Highest loss' })).toBeHidden();
  await expect(page).not.toHaveURL(/axes/);
  server.close();
});

test('without experiments, and of what nobody knows, the page says so', async ({ page, runs }) => {
  const server = await Server.start(runs.folder, '--experiments', join(runs.folder, 'nowhere'));
  await visit(page, server, '#/experiments');
  await expect(page.getByRole('heading', { name: 'No experiments yet' })).toBeVisible();
  await page.getByRole('link', { name: 'Lineage', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'What led to what' })).toBeVisible();
  expect(await axeViolations(page)).toEqual([]);
  await page.getByRole('searchbox').fill('nobody');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert')).toContainText('nobody');
  await page.goto(server.at('#/experiments?experiment=nobody'));
  await expect(page.getByRole('alert')).toContainText('nobody');
  server.close();
});
