// Machines without a GPU, remote desktops, and browsers that have been told to do without: no WebGL at all.
import { chromium } from '../playwright.config';
import { expect, test, visit } from './harness';

test.use({ launchOptions: { ...chromium, args: [...chromium.args, '--disable-webgl', '--disable-webgl2', '--disable-3d-apis'] } });

test('attention is drawn all the same', async ({ page, runs, server }) => {
  runs.write('attention');
  await visit(page, server);
  expect(await page.evaluate(() => document.createElement('canvas').getContext('webgl2'))).toBeNull();
  for (const mode of ['model', 'head', 'matrix', 'neuron']) {
    await page.goto(server.at(`#/run/attention/attention?mode=${mode}`));
    const painted = () => page.evaluate(() => {
      const canvas = [...document.querySelectorAll('canvas')].sort((a, b) => b.width * b.height - a.width * a.height)[0];
      if (!canvas || canvas.width * canvas.height === 0) return false;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      return data.some((byte) => byte !== 0);
    });
    await expect(page.locator(`button[aria-pressed="true"]`, { hasText: new RegExp(mode, 'i') }).first()).toBeVisible();
    await expect.poll(painted, { message: mode }).toBe(true);
  }
});
