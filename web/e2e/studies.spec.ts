// The place of studies.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { axeViolations, expect, picture, type Runs, Server, test, visit } from './harness';

const SPEC = {
  parameters: { lr: { min: 1e-4, max: 1, log: true }, optimizer: { choices: ['adam', 'sgd <b>'] } },
  metrics: { accuracy: { goal: 'maximize', threshold: 0.9 }, seconds: { goal: 'minimize' } },
  sampler: 'random',
};

/** A study of four trials: two complete, one pruned, one that runs. Gives the folder and what runs `study`. */
function searched(runs: Runs): { folder: string; study: (...words: string[]) => string } {
  const folder = join(runs.folder, 'work/studies');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(runs.folder, 'mine.json'), JSON.stringify(SPEC));
  const study = (...words: string[]) => runs.trainwarden('study', ...words, '--studies', folder);
  study('create', 'mine.json');
  for (const trial of ['0', '1', '2', '3']) {
    study('enqueue', 'mine', `lr=${10 ** -Number(trial)}`, `optimizer=${trial === '0' ? 'sgd <b>' : 'adam'}`);
    study('ask', 'mine', '--worker', `node-${Number(trial) % 2}`);
    for (const step of ['1', '2']) study('report', 'mine', trial, '--step', step, `accuracy=0.${step}${trial}`);
  }
  study('tell', 'mine', '0', 'accuracy=0.5', 'seconds=1');
  study('tell', 'mine', '1', 'accuracy=0.8', 'seconds=2');
  study('tell', 'mine', '2', '--pruned', 'accuracy=0.2', 'seconds=9');
  return { folder, study };
}

for (const scheme of ['light', 'dark'] as const) {
  test(`a study says first whether the target was met, and leaves out what its axes leave out, in ${scheme}`, async ({ page, runs }) => {
    const { folder, study } = searched(runs);
    const server = await Server.start(runs.folder, '--studies', folder);
    await page.emulateMedia({ colorScheme: scheme });
    await visit(page, server, '#/studies');
    await expect(page.locator('tr[data-row="mine"]')).toContainText('The target was not met');
    expect(await axeViolations(page)).toEqual([]);
    await picture(page, `studies-${scheme}`);
    await page.getByRole('link', { name: 'mine' }).click();
    await expect(page.locator('.study-outcome')).toContainText('The target was not met');
    for (const name of ['History', 'Parallel coordinates', 'Pareto front', 'Slices', 'Intermediate values', 'Timeline', 'Trials']) await expect(page.getByRole('region', { name, exact: true })).toBeVisible();
    await expect(page.locator('tr[data-row]')).toHaveCount(4);
    expect(await axeViolations(page)).toEqual([]);
    await picture(page, `study-${scheme}`);
    await page.getByRole('slider', { name: 'Highest optimizer' }).press('ArrowDown');
    await expect(page.locator('tr[data-row]')).toHaveCount(3);
    await expect(page).toHaveURL(/brush=optimizer/);
    await page.getByRole('button', { name: 'Show all' }).click();
    await expect(page.locator('tr[data-row]')).toHaveCount(4);
    await page.getByRole('slider', { name: 'History' }).press('ArrowRight');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('region', { name: 'Trial 0' })).toContainText('sgd <b>');
    expect(await axeViolations(page)).toEqual([]);
    study('tell', 'mine', '3', 'accuracy=0.95', 'seconds=3');
    await expect(page.locator('.study-outcome')).toContainText('The target is met');
    server.close();
  });
}

test('a range is dragged on an axis, and a click takes it back', async ({ page, runs }) => {
  const { folder } = searched(runs);
  const server = await Server.start(runs.folder, '--studies', folder);
  await visit(page, server, '#/studies?study=mine');
  const strip = page.locator('.parallel-axis .strip').first();
  await strip.scrollIntoViewIfNeeded();
  const box = (await strip.boundingBox())!;
  const x = box.x + box.width / 2;
  await page.mouse.move(x, box.y + 1);
  await page.mouse.down();
  await page.mouse.move(x, box.y + box.height * 0.4, { steps: 4 });
  await page.mouse.up();
  await expect(page).toHaveURL(/brush=lr/);
  await expect(page.locator('tr[data-row]')).toHaveCount(2); // 1 and 0.1
  await strip.click();
  await expect(page.locator('tr[data-row]')).toHaveCount(4);
  server.close();
});

test('without studies, and of what nobody knows, the page says so', async ({ page, runs }) => {
  const server = await Server.start(runs.folder, '--studies', join(runs.folder, 'nowhere'));
  await visit(page, server, '#/studies');
  await expect(page.getByRole('heading', { name: 'No studies yet' })).toBeVisible();
  expect(await axeViolations(page)).toEqual([]);
  await page.goto(server.at('#/studies?study=nobody'));
  await expect(page.getByRole('alert')).toContainText('nobody');
  server.close();
});
