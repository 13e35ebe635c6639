// Five tasks of somebody who opens the page for the first time, by what is written on it. Each click, choice and pointing counts.
import { join } from 'node:path';

import type { Locator, Page } from '@playwright/test';

import { expect, picture, test, visit } from './harness';

class NewUser {
  private acts = 0;

  constructor(readonly page: Page) {}

  async click(target: Locator): Promise<void> {
    ++this.acts;
    await target.click();
  }

  async choose(target: Locator, label: string): Promise<void> {
    ++this.acts;
    await target.selectOption({ label });
  }

  async point(target: Locator, position: { x: number; y: number }): Promise<void> {
    ++this.acts;
    await target.hover({ position });
  }

  async done(task: string, most: number): Promise<void> {
    console.log(`${task}: ${this.acts} of at most ${most} clicks`);
    await picture(this.page, `task-${task.replace(/\W+/g, '-')}`);
    expect(this.acts, task).toBeLessThanOrEqual(most);
  }
}

test('why is the loss NaN', async ({ page, runs, server }) => {
  const folder = runs.write('training');
  expect(() => runs.trainwarden('watch', folder, '--rule', 'NonFiniteOrigin')).toThrow(); // by its exit status: a rule has fired
  await visit(page, server);
  const user = new NewUser(page);
  await user.click(page.getByRole('link', { name: 'training', exact: true }));
  await user.click(page.getByRole('link', { name: 'Rules', exact: true }));
  const detail = page.locator('.rule-detail');
  await expect(detail).toContainText('fired at step 20 (train 17): The first');
  await expect(detail).toContainText('train_loss');
  await user.done('why the loss is NaN', 3);
});

test('which of twenty runs is best, and what differs', async ({ page, runs, server }) => {
  runs.write('many', '.', 20);
  await visit(page, server);
  await expect(page.locator('tr[data-run]').first()).toContainText('completed');
  const user = new NewUser(page);
  const loss = page.getByRole('columnheader', { name: 'Loss' }).getByRole('button');
  await user.click(loss);
  if (!(await page.locator('tr[data-run]').first().innerText()).includes('0.04167')) await user.click(loss); // the largest stood first
  const best = page.locator('tr[data-run]').first();
  await expect(best).toContainText('0.04167'); // 1 / 24
  await expect(page.getByRole('columnheader', { name: 'seed' })).toBeVisible(); // the one label in which they differ
  await expect(best.locator('td').filter({ hasText: /^19$/ })).toBeVisible();
  await user.done('which of 20 runs is best and what differs', 2);
});

test('when did a head start to look at [SEP]', async ({ page, runs, server }) => {
  runs.write('attention');
  await visit(page, server);
  const user = new NewUser(page);
  await user.click(page.getByRole('link', { name: 'attention', exact: true }));
  await user.click(page.getByRole('link', { name: 'Attention', exact: true }));
  await user.click(page.getByText('Heads over the training'));
  await user.choose(page.locator('label').filter({ hasText: /^Metric/ }).locator('select'), 'weight on separators');
  const layer = page.locator('figure[data-layer="2"]');
  await expect(layer).toContainText(/Head \d changes most, at step \d+: [\d.]+ to [\d.]+/);
  await user.point(layer.locator('canvas'), { x: 60, y: 20 });
  await expect(layer).toContainText(/Step \d+: head 0 [\d.]+, head 1 [\d.]+, head 2 [\d.]+, head 3 [\d.]+/);
  await user.done('when head 3 of a layer started to look at [SEP]', 5);
});

test('which gradient is lost first', async ({ page, runs, server }) => {
  runs.write('layers', 'layers', 60);
  await visit(page, server);
  const user = new NewUser(page);
  await user.click(page.getByRole('link', { name: 'layers', exact: true }));
  await user.click(page.getByRole('link', { name: 'Layers', exact: true }));
  await expect(page.locator('[data-view="layers"]')).toContainText('NaN or Inf in 1 of 300 layers, first at step 30 in gradient/blocks.7.weight');
  await user.done("which layer's gradient died first", 2);
});

test('a colleague is sent what is shown', async ({ page, runs, server, browser }) => {
  runs.write('training');
  await visit(page, server, '#/run/training/scalars?panel=loss');
  await page.waitForSelector('[data-drawn]');
  const user = new NewUser(page);
  const download = page.waitForEvent('download');
  await user.click(page.getByRole('button', { name: 'Export' }));
  await user.click(page.getByRole('button', { name: 'The run as one file' }));
  const file = join(runs.folder, 'for-a-colleague.html');
  await (await download).saveAs(file);
  await user.done('send a colleague what I see', 2);

  const theirs = await (await browser.newContext()).newPage(); // who has no server
  await theirs.goto(`file://${file}`);
  await expect(theirs.locator('h1')).toHaveText('training');
  await theirs.context().close();
});
