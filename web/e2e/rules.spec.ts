import { spawn } from 'node:child_process';
import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { axeViolations, expect, picture, Server, test, visit } from './harness';

test('rules tell what they found, where, and what they would find with other limits', async ({ page, runs, server }) => {
  runs.write('training');
  const judge = () => runs.trainwarden('watch', 'training', '--runs', runs.folder, '--rules', 'default', '--rule', 'ExplodingTensor:collection_names=losses');
  expect(judge).toThrow('fired at step 20'); // its exit code says that a rule fired
  await visit(page, server, '#/run/training/rules?rule=ExplodingTensor');
  const board = page.locator('.rules-board');
  await expect(board.locator('tr[data-rule="ExplodingTensor"]')).toContainText('fired');
  await expect(page.locator('.rules-summary')).toContainText(/rules: \d+ fired/);

  // Evidence: the loss is NaN at the training's step 17, the global step 20.
  const detail = page.locator('.rule-detail');
  await expect(detail.locator('[data-verdict]')).toHaveAttribute('data-verdict', '20');
  await expect(detail.locator('[data-evidence] tbody tr').first()).toContainText('train_loss');
  await expect(page.locator('[data-chart] svg')).toHaveAttribute('aria-label', /over [2-9]\d points; the threshold is 0; fired at step 20 with 1\./);
  await expect(page.getByRole('button', { name: /fired/ })).toBeVisible(); // of the time bar
  await picture(page, 'rules');

  // A rule that was never given is tried: the gradients' mean magnitude is 0.005.
  await page.getByLabel('Try a rule on the recorded steps').selectOption('VanishingGradient');
  const field = page.getByLabel('threshold', { exact: true });
  await field.fill('1');
  await field.press('Enter');
  await expect(page.locator('.what-if-answer')).toHaveAttribute('data-changed', '60');
  await expect(page.locator('.what-if-answer')).toHaveAttribute('data-now', '0');
  expect(page.url()).toContain('if.threshold=1');
  await picture(page, 'rules-what-if');
  expect(await axeViolations(page)).toEqual([]);
});

test('whoever may act asks the training to stop, after a question', async ({ page, runs }) => {
  const live = runs.live('going');
  await live.steps(3);
  const server = await Server.start(runs.folder, '--allow-actions');
  await visit(page, server, '#/run/going/rules');
  await page.getByRole('button', { name: 'Stop the training …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Why').fill('the loss is flat');
  await picture(page, 'rules-stop');
  await dialog.getByRole('button', { name: 'Stop' }).click();
  await expect(page.locator('[data-actions] [role=status]')).not.toBeEmpty();
  expect(readdirSync(`${runs.folder}/going/control`).filter((name) => name.startsWith('stop-'))).toHaveLength(1);
  server.close();
});

test('without leave to act there is nothing to act with', async ({ page, runs, server }) => {
  runs.write('training', 'training', 10);
  await visit(page, server, '#/run/training/rules');
  await expect(page.getByText('No rule has judged this run.').first()).toBeVisible();
  await expect(page.locator('[data-actions]')).toHaveCount(0);
});

test('a rule that fires while the training goes on shows on the board and on the time bar', async ({ page, runs, server }) => {
  const live = runs.live('going');
  await live.steps(10);
  const program = join(resolve(process.env.TRAINWARDEN_BUILD ?? '../build/release'), 'bin/trainwarden');
  const watch = spawn(program, ['watch', 'going', '--runs', runs.folder, '--rule', 'ExplodingTensor:collection_names=losses', '--rule', 'LossNotDecreasing'], { stdio: 'ignore' });
  try {
    await visit(page, server, '#/run/going/rules');
    const row = page.locator('tr[data-rule="ExplodingTensor"]');
    await expect(row).toContainText('watching');
    await live.steps(10); // the loss of the training's step 17 is NaN
    await expect(row).toContainText('fired');
    await expect(row.locator('svg[role=img]')).toHaveAttribute('aria-label', 'ExplodingTensor: fired at step 20');
    await expect(page.getByRole('button', { name: /1 fired/ })).toBeVisible();
    await expect(page).toHaveTitle('⚑ 1 going – Trainwarden');
    await expect(page.locator('[data-event]').first()).toContainText('ExplodingTensor');
    await picture(page, 'rules-live');
  } finally {
    watch.kill();
  }
});

test('a black box opens as a run of its own', async ({ page, runs, server }) => {
  const folder = runs.write('training', 'training', 20);
  const box = join(folder, 'blackbox', 'step-000020-rank-00000');
  cpSync(runs.write('training', 'source', 3), box, { recursive: true });
  writeFileSync(join(box, 'replay.json'), JSON.stringify({ format_version: 1, why: { kind: 'rule', message: 'the loss is NaN' }, failing_step: 2, steps: [{ global_step: 0 }, { global_step: 2 }] }));
  await visit(page, server, '#/run/training/rules');
  const boxes = page.getByRole('region', { name: 'Black boxes' });
  await expect(boxes).toContainText('holds steps 0 to 2: rule, the loss is NaN');
  await boxes.getByRole('link').click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('training/blackbox/step-000020-rank-00000');
  await expect(page.getByLabel('Step', { exact: true }).first()).toHaveValue('2');
});
