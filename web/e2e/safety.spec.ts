// What protects the page, as a browser sees it: who gets in, and what foreign pages get.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, test, visit } from './harness';

test('the token leaves the address, stays in the tab, and goes to no other port', async ({ page, context, runs, server }) => {
  runs.write('training');
  await visit(page, server);
  expect(page.url()).not.toContain(server.token);
  expect(await context.cookies()).toEqual([]);
  await page.reload();
  await expect(page.getByRole('link', { name: 'training' })).toBeVisible();

  let sent: string | undefined;
  const neighbour = createServer((request, response) => {
    sent = JSON.stringify(request.headers);
    response.setHeader('Content-Type', 'text/html').end('<body>neighbour</body>');
  });
  await new Promise<void>((listening) => neighbour.listen(0, '127.0.0.1', listening));
  try {
    await page.goto(`http://127.0.0.1:${(neighbour.address() as AddressInfo).port}/`);
    expect(sent).toBeDefined();
    expect(sent).not.toContain(server.token);
  } finally {
    neighbour.close();
  }
  await page.goto(server.at('#/')); // the same tab comes back
  await expect(page.getByRole('link', { name: 'training' })).toBeVisible();
});

test('a second tab is let in by the first, a stranger is not', async ({ page, context, browser, runs, server }) => {
  runs.write('training');
  await visit(page, server);
  const second = await context.newPage();
  await second.goto(server.at('#/'));
  await expect(second.getByRole('link', { name: 'training' })).toBeVisible();
  const stranger = await (await browser.newContext()).newPage();
  await stranger.goto(server.at('#/'));
  await expect(stranger.getByText('This page needs its key')).toBeVisible();
});

test('files are given to the page alone', async ({ page, runs, server }) => {
  runs.write('training');
  await visit(page, server, '#/run/training/home');
  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'The run as one file' }).click()]);
  expect(download.suggestedFilename()).toBe('training.html');
  await page.goto(server.at('api/v1/runs'));
  await expect(page.locator('body')).toContainText('no session');
});

test('a run that is replaced is told, and the new one is offered', async ({ page, runs, server }) => {
  const old = runs.live('training');
  await old.steps(4);
  await visit(page, server, '#/run/training/home');
  await expect(page.locator('header').getByText('running')).toBeVisible(); // the old run is open, not only its name
  await old.end();
  runs.remove('training');
  runs.write('training');
  await expect(page.getByText('another one lies under its name')).toBeVisible({ timeout: 15_000 });
  await expect(page.getByText('X-Trainwarden-Run')).toHaveCount(0); // what views say of it is for people
  await page.getByRole('button', { name: 'Open the new run' }).click();
  await expect(page.getByText('another one lies under its name')).toHaveCount(0);
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

test('a page of another origin on this machine gets nothing, with the token and all', async ({ page, runs, server }) => {
  runs.write('training');
  await visit(page, server);
  const foreign = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<body>foreign</body>'));
  await new Promise<void>((listening) => foreign.listen(0, '127.0.0.1', listening));
  try {
    await page.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
    const got = await page.evaluate(async ({ origin, token }) => {
      const answer = async (init: RequestInit) => {
        try {
          return (await fetch(`${origin}/api/v1/runs`, { credentials: 'include', headers: { Authorization: `Bearer ${token}` }, ...init })).type;
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
      return { read: await answer({}), posted: await answer({ method: 'POST', headers: { Authorization: `Bearer ${token}`, 'X-Trainwarden': '1' }, body: '{}' }), framed, script };
    }, { origin: `http://127.0.0.1:${server.port}`, token: server.token });
    expect(got).toEqual({ read: 'refused', posted: 'refused', framed: 'hidden', script: 'refused' });
  } finally {
    foreign.close();
  }
});
