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
    await page.waitForSelector('[data-drawn]');
    const painted = await page.evaluate(() => {
      const canvas = [...document.querySelectorAll('canvas')].sort((a, b) => b.width * b.height - a.width * a.height)[0]!;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      return data.some((byte) => byte !== 0);
    });
    expect(painted, mode).toBe(true);
  }
});
