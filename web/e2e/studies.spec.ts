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
    for (const name of ['History', 'Parallel coordinates', 'Importance', 'Contours', 'Pareto front', 'Slices', 'Distribution', 'Intermediate values', 'Timeline', 'Trials']) await expect(page.getByRole('region', { name, exact: true })).toBeVisible();
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

const share = (importance: number, low: number, high: number) => ({ importance, low, high });
const IMPORTANCE = {
  study: 'mine', metric: 'accuracy', trials: 4, left_out: 1, note: 'Few trials: the intervals are wide.',
  ped_anova: [{ parameter: 'optimizer', ...share(0.71, 0.55, 0.83) }, { parameter: 'lr', ...share(0.29, 0.1, 0.4) }],
  fanova: { r2: 0.12, trusted: false, single: [{ parameter: 'lr', ...share(0.4, 0.2, 0.6) }, { parameter: 'optimizer', ...share(0.3, 0.1, 0.5) }], pairs: [{ parameters: ['lr', 'optimizer'], ...share(0.004, 0, 0.1) }] },
};

for (const scheme of ['light', 'dark'] as const) {
  test(`a study shows what matters, over which two parameters, and beside other studies, in ${scheme}`, async ({ page, runs }) => {
    const { folder, study } = searched(runs);
    study('tell', 'mine', '3', 'accuracy=0.95', 'seconds=3');
    study('create', 'mine.json', '--name', 'other');
    for (const accuracy of ['0.1', '0.9']) {
      const { number } = JSON.parse(study('ask', 'other', '--json')) as { number: number };
      study('tell', 'other', String(number), `accuracy=${accuracy}`, 'seconds=1');
    }
    let asked = 0;
    await page.route('**/api/v1/studies/mine/importance?*', (route) => {
      ++asked;
      return route.fulfill({ json: IMPORTANCE });
    });
    const server = await Server.start(runs.folder, '--studies', folder);
    await page.emulateMedia({ colorScheme: scheme });
    await visit(page, server, '#/studies?study=mine');
    const part = (name: string) => page.getByRole('region', { name, exact: true });
    const importance = part('Importance');
    await importance.scrollIntoViewIfNeeded();
    await expect(importance).toContainText('accuracy, of 4 trials, 1 left out. Few trials');
    await expect(importance.locator('[data-parameter]').first()).toContainText('optimizer71 % (55 to 83 %)30 % (10 to 50 %)');
    await expect(importance).toContainText('lr × optimizer< 1 % (0 to 10 %)');
    await expect(importance.locator('[data-test="trust"]')).toContainText('Do not trust the bars of fANOVA');

    const contours = part('Contours');
    await expect(contours.getByLabel('Across')).toHaveValue('optimizer'); // the most important one
    await expect(contours.locator('[data-test="surface"]')).toContainText('interpolated from 3 complete trials');
    await contours.getByLabel('Across').selectOption('lr');
    await expect(page).toHaveURL(/across=lr/);
    await expect(contours.getByLabel('Up')).toHaveValue('optimizer');
    const plot = contours.getByRole('slider', { name: 'Contours' });
    await plot.press('Home');
    await expect(plot).toHaveAttribute('aria-valuetext', /Trial 3, complete: accuracy 0.95/); // the smallest lr

    const distribution = part('Distribution');
    await distribution.scrollIntoViewIfNeeded(); // then it asks for the others
    await distribution.getByLabel('Compare with another study').selectOption('other');
    await expect(page).toHaveURL(/with=other/);
    await expect(distribution.getByRole('listitem')).toHaveText(['mine', /^other/]);
    const edf = distribution.getByRole('slider', { name: 'Distribution' });
    await edf.press('ArrowRight');
    await expect(edf).toHaveAttribute('aria-valuetext', /^33 % of the complete trials have at most 0.5/);
    await edf.press('End');
    await expect(edf).toHaveAttribute('aria-valuetext', /^100 % of the complete trials have at most 0.95/);
    expect(await axeViolations(page)).toEqual([]);
    await importance.scrollIntoViewIfNeeded();
    await picture(page, `study-importance-${scheme}`);
    await distribution.scrollIntoViewIfNeeded();
    await picture(page, `study-distribution-${scheme}`);
    await distribution.getByRole('button', { name: 'Leave out other' }).click();
    await expect(distribution.getByRole('listitem')).toHaveCount(0);
    expect(asked).toBe(1);
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
