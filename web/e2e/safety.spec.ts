// What protects the page, as a browser sees it: who gets in, and what foreign pages get.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, test, visit } from './harness';

test('the token leaves the address and a cookie that no script reads takes its place', async ({ page, context, runs, server }) => {
  runs.write('training');
  await visit(page, server);
  expect(page.url()).not.toContain(server.token);
  expect(await page.evaluate(() => document.cookie)).toBe('');
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ name: `trainwarden-${server.port}`, httpOnly: true, sameSite: 'Strict' });
  expect(cookie!.value).not.toBe(server.token);
  await page.reload();
  await expect(page.getByRole('link', { name: 'training' })).toBeVisible();
});

test('without the token the page shows nothing of the runs', async ({ page, runs, server }) => {
  runs.write('training');
  await page.goto(server.at('#/'));
  await page.waitForSelector('main');
  await expect(page.getByRole('textbox')).toBeVisible();
  await expect(page.getByText('training')).toHaveCount(0);
});

test('nothing but the page’s own files runs in it', async ({ page, server }) => {
  await visit(page, server);
  const tried = await page.evaluate(() => {
    const failed = (act: () => void) => {
      try {
        act();
        return false;
      } catch {
        return true;
      }
    };
    return {
      addsScript: !failed(() => (document.createElement('script').textContent = 'window.broken = true')),
      writesMarkup: !failed(() => (document.createElement('div').innerHTML = '<b>x</b>')),
    };
  });
  expect(tried).toEqual({ addsScript: false, writesMarkup: false });
});

test('a page of another origin on this machine gets nothing, with the cookie and all', async ({ page, runs, server }) => {
  runs.write('training');
  await visit(page, server);
  const foreign = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<body>foreign</body>'));
  await new Promise<void>((listening) => foreign.listen(0, '127.0.0.1', listening));
  try {
    await page.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
    const got = await page.evaluate(async (origin) => {
      const answer = async (init: RequestInit) => {
        try {
          return (await fetch(`${origin}/api/v1/runs`, { credentials: 'include', ...init })).type;
        } catch {
          return 'refused';
        }
      };
      const framed = await new Promise((done) => {
        const frame = document.createElement('iframe');
        frame.src = `${origin}/`;
        frame.onload = () => done(frame.contentDocument === null ? 'hidden' : 'open');
        document.body.append(frame);
      });
      const script = await new Promise((done) => {
        const element = document.createElement('script');
        element.src = `${origin}/api/v1/runs`;
        element.onload = () => done('loaded');
        element.onerror = () => done('refused');
        document.body.append(element);
      });
      return { read: await answer({}), posted: await answer({ method: 'POST', headers: { 'X-Trainwarden': '1' }, body: '{}' }), framed, script };
    }, `http://127.0.0.1:${server.port}`);
    expect(got).toEqual({ read: 'refused', posted: 'refused', framed: 'hidden', script: 'refused' });
  } finally {
    foreign.close();
  }
});
