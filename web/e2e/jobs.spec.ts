// The place of jobs: their list, one of them with its logs and files, and the requests to stop and to go on.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { axeViolations, expect, picture, Server, test, visit } from './harness';

test('three thousand jobs are listed, few of them in the document', async ({ page, runs }) => {
  test.setTimeout(120_000); // on a machine that has other work
  const server = await Server.start(runs.folder, '--jobs', runs.writeJobs(3000));
  await visit(page, server, '#/jobs');
  await expect(page.locator('[data-test="count"]')).toContainText('3,000 in', { timeout: 30_000 });
  expect(await page.locator('tr[data-row]').count()).toBeLessThan(60);
  await expect(page.locator('tr[data-row="sweep-2999"]')).toContainText('completed'); // the newest
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    expect(await axeViolations(page)).toEqual([]);
    await picture(page, `jobs-list-${scheme}`);
    await page.setViewportSize({ width: 390, height: 800 });
    await picture(page, `jobs-list-narrow-${scheme}`);
    await page.setViewportSize({ width: 1280, height: 860 });
  }

  await page.locator('.value-table').evaluate((list) => list.scrollTo(0, list.scrollHeight));
  await expect(page.locator('tr[data-row="sweep-0"]')).toBeVisible();
  await page.getByRole('button', { name: 'lr', exact: true }).click();
  await expect(page).toHaveURL(/sort=lr/);
  await page.locator('.value-table').evaluate((list) => list.scrollTo(0, 0));
  await expect(page.locator('tr[data-row]').first()).toContainText('0.001');
  server.close();
});

test('jobs are searched by their values, and all that is chosen stands in the link', async ({ page, runs }) => {
  const server = await Server.start(runs.folder, '--jobs', runs.writeJobs(24));
  await visit(page, server, '#/jobs');
  await expect(page.locator('tr[data-row]')).toHaveCount(24);
  await page.keyboard.press('/');
  await page.getByPlaceholder('lr<0.1').fill('lr<0.005 optimizer=adam');
  await expect(page.locator('tr[data-row]')).toHaveCount(2); // 0 and 3
  await expect(page.locator('[data-test="count"]')).toContainText('2 of 24');
  await page.getByText('Columns').click();
  await page.getByRole('checkbox', { name: 'epochs' }).uncheck();
  await expect(page.locator('thead')).not.toContainText('epochs');
  await expect(page).toHaveURL(/columns=/);
  await page.reload();
  await expect(page.locator('tr[data-row]')).toHaveCount(2);
  await expect(page.locator('thead')).not.toContainText('epochs');
  await page.locator('[data-group="completed"]').click();
  await expect(page.locator('tr[data-row]')).toHaveCount(1);
  server.close();
});

test('a job shows its history, logs, files and what was submitted, and no text of it is markup', async ({ page, runs }) => {
  const server = await Server.start(runs.folder, '--jobs', runs.writeJobs(8));
  await visit(page, server, '#/jobs?job=sweep-0');
  await expect(page.getByRole('heading', { name: 'sweep-0' })).toBeVisible();
  await expect(page.locator('.log')).toContainText('step 399 loss');
  await expect(page.locator('.log')).toContainText('<img src=x');
  await expect(page.locator('.log')).not.toContainText('50%'); // the bar as it was at the end
  expect(await page.locator('main img').count()).toBe(0);
  await expect(page.getByRole('region', { name: 'Its text' })).toContainText('optimizer = "adam"');
  expect(await axeViolations(page)).toEqual([]);
  await picture(page, 'job-light');
  await page.setViewportSize({ width: 390, height: 1400 });
  await picture(page, 'job-narrow');
  await page.setViewportSize({ width: 1280, height: 860 });

  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save checkpoints/last.pt' }).click();
  expect((await download).suggestedFilename()).toBe('last.pt');
  await expect(page.getByRole('region', { name: 'Rules' })).toContainText('fired at step 3');
  await page.getByRole('link', { name: 'Log of LossSpike' }).click();
  await expect(page.locator('.log')).toHaveText('LossSpike fired at step 3\n');
  await page.locator('#job-log').selectOption({ label: 'rank 10' });
  await expect(page.locator('.log')).toHaveText('rank 10\n');
  await expect(page).toHaveURL(/log=rank-10/);
  await expect(page.getByRole('button', { name: 'Stop' })).toHaveCount(0); // the server only shows

  await page.goto(server.at('#/jobs?job=sweep-3'));
  await expect(page.getByText('AlgorithmError: ExitCode 1 <img').first()).toBeVisible();
  await page.goto(server.at('#/jobs?job=nobody'));
  await expect(page.getByRole('alert')).toContainText('no job "nobody"');
  server.close();
});

test('a job that runs is followed, stopped and goes on', async ({ page, runs }) => {
  test.setTimeout(120_000);
  const work = join(runs.folder, 'work');
  mkdirSync(work);
  writeFileSync(join(work, 'job.toml'), `name = "live"\nprogram = ["sh", "-c", "i=0; while sleep 0.2; do i=$((i+1)); echo line $i; echo loss=$((40 - i)); done"]\nhook = false\n[[metric]]\nname = "loss"\nregex = 'loss=(\\S+)'\n`);
  const jobs = join(work, 'jobs');
  runs.trainwarden('submit', join(work, 'job.toml'), '--jobs', jobs, '--runs', runs.folder);
  const server = await Server.start(runs.folder, '--jobs', jobs, '--allow-actions');
  try {
    await visit(page, server, '#/jobs');
    await expect(page.locator('tr[data-row="live"]')).toContainText('training', { timeout: 20_000 });
    await expect(page.getByRole('button', { name: 'loss.max' })).toBeVisible({ timeout: 20_000 });
    await expect(page.locator('tr[data-row="live"]')).toContainText('39');
    await page.getByRole('link', { name: 'live', exact: true }).click();
    await expect(page.locator('.log')).toContainText('line 3', { timeout: 20_000 });
    await expect(page.locator('.log')).toContainText('line 20', { timeout: 20_000 }); // without a reload
    await page.emulateMedia({ colorScheme: 'dark' });
    await picture(page, 'job-live-dark');
    await page.getByRole('button', { name: 'Stop …' }).click();
    await page.getByLabel('Why').fill('seen enough');
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await expect(page.locator('.job-head')).toContainText('stopped', { timeout: 30_000 });
    await expect(page.getByText('on the page: seen enough')).toBeVisible();
    await page.getByRole('button', { name: 'Go on …' }).click();
    await page.getByRole('button', { name: 'Go on', exact: true }).click();
    await expect(page.locator('.job-head')).toContainText('training', { timeout: 30_000 });
    await expect(page.getByRole('region', { name: 'Job' }).or(page.locator('section[aria-label="Job"]')).first()).toContainText('Attempt');
  } finally {
    runs.trainwarden('job', 'stop', 'live', '--jobs', jobs, '--wait');
    server.close();
  }
});

test('without a job the page says how to submit one', async ({ page, runs }) => {
  const server = await Server.start(runs.folder, '--jobs', join(runs.folder, 'nowhere'));
  await visit(page, server);
  await page.getByRole('link', { name: 'Jobs', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'No jobs yet' })).toBeVisible();
  await expect(page.getByText('trainwarden submit job.toml')).toBeVisible();
  expect(await axeViolations(page)).toEqual([]);
  await picture(page, 'jobs-none');
  server.close();
});
