// A run as one file: it works without a server and without a network, and asks nobody.
import { statSync } from 'node:fs';
import { join } from 'node:path';

import { axeViolations, expect, picture, test } from './harness';

test('a run in one file shows what the run has, with the network off', async ({ browser, runs }) => {
  runs.write('attention');
  const file = join(runs.folder, 'attention.html');
  runs.trainwarden('export', join(runs.folder, 'attention'), '--to', 'page', file);
  expect(statSync(file).size).toBeLessThan(5_000_000);

  const context = await browser.newContext({ offline: true });
  const page = await context.newPage();
  const asked: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => {
    if (!/^(file|blob|data):/.test(request.url())) asked.push(request.url());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });

  await page.goto(`file://${file}`);
  await expect(page.getByText('a saved page')).toBeVisible();
  await expect(page).toHaveURL(/#\/run\/attention/);
  await expect(page.locator('.home-view[data-drawn]')).toBeVisible();
  await page.goto(`file://${file}#/run/attention/attention`);
  await expect(page.getByText('12 heads on 24 tokens')).toBeVisible();
  await picture(page, 'one-file');
  expect(await axeViolations(page)).toEqual([]);
  expect(asked).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a run in one file has its losses at home and its charts, of one mode or all', async ({ page, runs }) => {
  runs.write('training', 'trained');
  const file = join(runs.folder, 'trained.html');
  runs.trainwarden('export', join(runs.folder, 'trained'), '--to', 'page', file);
  await page.goto(`file://${file}`);
  await expect(page.locator('.home-view[data-drawn]')).toContainText('Loss');
  for (const mode of ['', '?mode=train']) {
    await page.goto(`file://${file}#/run/trained/scalars${mode}`);
    await expect(page.locator('.scalars[data-drawn] canvas').first()).toBeVisible();
  }
});
