// Tensors in the page of a run whose numbers are known: what the page says is compared with what `trainwarden value`
// reads from the run's files.
import type { Page } from '@playwright/test';

import { axeViolations, expect, picture, type Runs, test, visit } from './harness';

function stored(runs: Runs, run: string, tensor: string, step: number): number[] {
  const answer = JSON.parse(runs.trainwarden('value', run, tensor, '--step', String(step), '--json', '--elements')) as { elements: (number | string)[] };
  return answer.elements.map(Number);
}

const readout = (page: Page) => page.locator('[data-readout]');

/** The number after " = ". */
async function shownNumber(page: Page): Promise<number> {
  await expect(readout(page)).toContainText(' = ');
  await expect(readout(page)).not.toContainText('…');
  return Number((await readout(page).textContent())!.split(' = ')[1]!.split(' ')[0]);
}

test.describe('tensors', () => {
  test('are a tree by module and by collection, searched and opened by keyboard', async ({ page, runs, server }) => {
    runs.write('training');
    await visit(page, server, '#/run/training/tensors');
    await expect(page.locator('.tn-summary')).toContainText('tensors');
    const row = page.locator('[data-tensor="conv1.weight"]');
    await expect(row).toContainText('[8, 1, 3, 3]');
    await expect(row.locator('.tn-spark path')).toHaveAttribute('d', /L/);
    await picture(page, 'tensors-list');
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('searchbox').fill('*.layer.?.*');
    await expect(page.locator('.tn-rows [data-tensor]')).toHaveCount(2);
    await page.getByRole('searchbox').fill('');
    await page.getByRole('button', { name: 'By collection' }).click();
    await expect(page.locator('.tn-rows')).toContainText('gradients');
    await page.getByRole('treegrid').focus();
    for (const key of ['Home', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    await expect(page.locator('.tn-detail h2')).toBeVisible();
  });

  test('have statistics over steps, with the NaN where it was', async ({ page, runs, server }) => {
    runs.write('training');
    await visit(page, server, '#/run/training/tensors?tensor=encoder.layer.2.fc.bias');
    await expect(page.locator('.tn-chart')).toHaveCount(8);
    await page.getByText('As a table').click();
    const nan = page.locator('.tn-pane tbody tr', { has: page.locator('td:nth-of-type(2)', { hasText: /^1$/ }) });
    await expect(nan).toHaveCount(1);
    await picture(page, 'tensors-statistics');
    expect(await axeViolations(page)).toEqual([]);
  });

  test('show the stored bits under the pointer and under the keyboard cursor', async ({ page, runs, server }) => {
    runs.write('training');
    await visit(page, server, '#/run/training/tensors?tensor=encoder.layer.0.fc.weight&tab=values&step=7');
    await expect(readout(page)).toContainText('step 7');
    const elements = stored(runs, 'training', 'encoder.layer.0.fc.weight', 7);
    expect(Math.fround(await shownNumber(page))).toBe(Math.fround(elements[0]!));
    await page.getByRole('group', { name: /^Elements/ }).focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    await expect(readout(page)).toContainText('[2, 3] = ');
    expect(Math.fround(await shownNumber(page))).toBe(Math.fround(elements[2 * 8 + 3]!));
    const box = (await page.getByRole('group', { name: /^Elements/ }).boundingBox())!;
    await page.mouse.move(box.x + 56 + 76 * 5 + 20, box.y + 22 * 5 + 8);
    await expect(readout(page)).toContainText('[4, 5] = ');
    expect(Math.fround(await shownNumber(page))).toBe(Math.fround(elements[4 * 8 + 5]!));
    await page.getByText('What is in sight, as a table').click();
    await expect(page.locator('.tn-pane tbody tr')).toHaveCount(16);
    const cells = await page.locator('.tn-pane tbody td').allTextContents();
    expect(cells.map((text) => Math.fround(Number(text)))).toEqual(elements.map(Math.fround));
    await picture(page, 'tensors-values');
    expect(await axeViolations(page)).toEqual([]);
  });

  test('have histograms: a ridge, a heat map, one step', async ({ page, runs, server }) => {
    runs.write('training');
    await visit(page, server, '#/run/training/tensors?tensor=gradient/conv1.weight&tab=histogram');
    await expect(page.locator('.tn-limits tbody tr')).toHaveCount(4);
    await picture(page, 'tensors-histogram-ridge');
    await page.getByRole('button', { name: 'Heat map' }).click();
    await page.locator('.tn-stage').focus();
    await page.keyboard.press('ArrowRight');
    await expect(page.locator('.tn-readout')).toContainText('elements');
    await picture(page, 'tensors-histogram-heat');
    await page.getByRole('button', { name: 'One step', exact: true }).click();
    await page.locator('summary', { hasText: 'as a table' }).click();
    const counted = await page.locator('details[data-bins] td').allTextContents();
    expect(counted.map(Number).reduce((a, b) => a + b, 0)).toBe(8 * 3 * 3); // every element is in one line
    await picture(page, 'tensors-histogram-bars');
    expect(await axeViolations(page)).toEqual([]);
  });

  test('are strips of pictures over steps, with exact numbers', async ({ page, runs, server }) => {
    runs.write('training');
    await visit(page, server, '#/run/training/tensors?tensor=conv1.weight&tab=pictures');
    await expect(page.locator('.tn-pane canvas')).toHaveAttribute('aria-label', /8 rows of pictures of conv1.weight/);
    await expect(readout(page)).toContainText('[0, 0] = ');
    const step = Number(await page.locator('[data-drawn]').first().getAttribute('data-step'));
    const elements = stored(runs, 'training', 'conv1.weight', step);
    expect(Math.fround(await shownNumber(page))).toBe(Math.fround(elements[0]!));
    await page.getByRole('group', { name: /Strips/ }).focus();
    await page.keyboard.press('ArrowDown');
    await expect(readout(page)).toContainText('Row 1');
    expect(Math.fround(await shownNumber(page))).toBe(Math.fround(elements[9]!));
    await picture(page, 'tensors-strips');
    await page.locator('select[data-choice="palette"]').selectOption('signed');
    await page.locator('select[data-choice="scale"]').selectOption('picture');
    await expect(page.locator('.tn-pane')).toContainText('each picture has a scale of its own');
    await picture(page, 'tensors-strips-signed');
    expect(await axeViolations(page)).toEqual([]);
    await visit(page, server, '#/run/training/tensors?tensor=conv1.output&tab=pictures');
    await expect(readout(page)).toContainText(' = ');
    await picture(page, 'tensors-activations');
  });

  test('are compared with another run, element by element', async ({ page, runs, server }) => {
    runs.write('training');
    runs.write('apart');
    await visit(page, server, '#/run/training/tensors?tensor=conv1.weight&tab=values&step=66&b=@apart');
    await expect(readout(page)).toContainText('difference');
    await expect(readout(page)).not.toContainText('…');
    const step = Number((await readout(page).textContent())!.match(/, step (\d+)\)/)![1]);
    const [here, there] = [stored(runs, 'training', 'conv1.weight', step)[0]!, stored(runs, 'apart', 'conv1.weight', step)[0]!];
    expect(Math.fround(await shownNumber(page))).toBe(Math.fround(here));
    const shown = Number((await readout(page).textContent())!.split('difference ')[1]!.replace('−', '-'));
    expect(shown).toBeCloseTo(here - there, 3);
    expect(Math.abs(shown)).toBeCloseTo(0.5, 3);
    await picture(page, 'tensors-compared');
  });

  test('are readable in the dark and on a narrow screen', async ({ page, runs, server }) => {
    runs.write('training');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 400, height: 800 });
    await visit(page, server, '#/run/training/tensors?tensor=conv1.weight&tab=histogram');
    await expect(page.locator('.tn-limits tbody tr')).toHaveCount(4);
    await picture(page, 'tensors-dark-narrow');
    expect(await axeViolations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(400);
    await expect(page.locator('.tn-rows'), 'one of them at a time').toBeHidden();
    await page.getByRole('button', { name: 'Close the tensor' }).click();
    await expect(page.locator('.tn-rows')).toBeVisible();
    for (const [wide, beside] of [[400, ''], [1000, '&tensor=conv1.weight']] as const) {
      await page.setViewportSize({ width: wide, height: 800 });
      await page.goto(server.at(`#/run/training/tensors?sort=nan&step=20${beside}`));
      const nan = page.locator('.tn-rows .tn-row').first().locator('.tn-cell-6');
      await expect(nan, 'what the list is sorted by has room').toBeVisible();
      await expect(nan).toHaveText('1');
    }
  });

  test('follow a run while it is written', async ({ page, runs, server }) => {
    const live = runs.live('live');
    await live.steps(3);
    await visit(page, server, '#/run/live/tensors?tensor=conv1.weight');
    const shown = page.locator('[data-drawn]').first();
    await expect(shown).toHaveAttribute('data-step', '2');
    await live.step();
    await expect(shown).toHaveAttribute('data-step', '3');
    await page.getByRole('button', { name: 'Pictures' }).click();
    await live.step(); // and an evaluation
    await expect(shown).toHaveAttribute('data-step', '4');
    await live.end();
  });

  test('take hostile names for texts', async ({ page, runs, server }) => {
    runs.write('hostile');
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    await visit(page, server);
    await page.locator('main a').first().click();
    await page.getByRole('link', { name: 'Tensors' }).or(page.getByRole('tab', { name: 'Tensors' })).first().click();
    const first = page.locator('.tn-rows [data-tensor]').first();
    await first.click();
    await expect(page.locator('.tn-detail h2')).toBeVisible();
    expect(await page.locator('.tensors img, .tensors script').count()).toBe(0);
    expect(dialogs).toEqual([]);
    await picture(page, 'tensors-hostile');
  });

  test('are listed soon, many of them', async ({ page, runs, server }) => {
    runs.write('tensors', 'tensors', 12345);
    await visit(page, server);
    const begin = Date.now();
    await page.goto(server.at('#/run/tensors/tensors'));
    await expect(page.locator('.tn-summary')).toContainText('12,345 tensors');
    test.info().annotations.push({ type: 'milliseconds until 12,345 tensors are listed, first look', description: String(Date.now() - begin) });
    await page.getByRole('button', { name: 'Flat' }).click();
    await expect(page.locator('.tn-rows [data-tensor]').first()).toBeVisible();
    expect(await page.locator('.tn-rows .tn-row').count()).toBeLessThan(100);
    await picture(page, 'tensors-many');
  });
});
