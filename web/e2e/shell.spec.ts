import { axeViolations, expect, picture, test, visit } from './harness';

const step = (page: import('@playwright/test').Page) => page.getByRole('slider', { name: 'Step', exact: true });

test('the cursor moves by keys, buttons, the field and the mouse, and stands in the link', async ({ page, runs, server }) => {
  runs.write('training');
  await visit(page, server, '#/run/training/scalars');
  await expect(step(page)).toHaveAttribute('aria-valuenow', '71'); // 60 steps of training, 12 of evaluation
  await expect(step(page)).toHaveAttribute('aria-valuetext', /following the newest/);
  // The state is known later than the tabs are there: it may not move them away from under the pointer.
  const tabs = (await page.getByRole('navigation', { name: 'Views' }).boundingBox())!;
  expect((await page.locator('header .state').first().boundingBox())!.x).toBeGreaterThanOrEqual(tabs.x + tabs.width);

  await page.keyboard.press('l'); // pause
  await expect(page).toHaveURL(/step=71/);
  await page.getByRole('button', { name: 'Ten steps back' }).click();
  const tenBack = Number(await step(page).getAttribute('aria-valuenow'));
  expect(tenBack).toBeLessThan(71);
  await page.locator('body').press('ArrowLeft');
  expect(Number(await step(page).getAttribute('aria-valuenow'))).toBeLessThan(tenBack);

  const field = page.getByLabel('Step', { exact: true }).and(page.locator('input'));
  await field.fill('20');
  await field.press('Enter');
  await expect(page).toHaveURL(/step=20/);
  await expect(page.getByText('train 17', { exact: true })).toBeVisible();

  await step(page).focus();
  await page.keyboard.press('Home');
  await expect(step(page)).toHaveAttribute('aria-valuenow', '0');
  const box = (await step(page).boundingBox())!;
  await page.mouse.click(box.x + box.width / 2, box.y + 18);
  expect(Math.abs(Number(await step(page).getAttribute('aria-valuenow')) - 36)).toBeLessThanOrEqual(2);
});

test('what is played moves on, and what follows the run moves with it', async ({ page, runs, server }) => {
  const run = runs.live('live');
  await run.steps(6);
  await visit(page, server, '#/run/live/home?step=0');
  await expect(step(page)).toHaveAttribute('aria-valuenow', '0');
  await page.getByLabel('Speed').selectOption('16');
  await page.getByRole('button', { name: 'Play' }).click();
  await expect(step(page)).toHaveAttribute('aria-valuenow', '6');
  await expect(page.getByRole('button', { name: 'Play' })).toHaveAttribute('aria-pressed', 'false');

  await page.getByRole('button', { name: 'Newest' }).click();
  await run.steps(3);
  await expect(step(page)).toHaveAttribute('aria-valuenow', '9');
});

test('views open by keys, the sheet tells them, and the way back works', async ({ page, runs, server }) => {
  runs.write('training');
  await visit(page, server, '#/run/training/home');
  await expect(page.locator('[data-view="home"] [data-test="steps"]')).toContainText('72');
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toContainText('follow the newest step');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await expect(page.locator('[data-search]')).toBeVisible();
  await page.keyboard.press('/');
  await expect(page.locator('[data-search]')).toBeFocused();
  await page.goBack();
  await expect(page.locator('[data-view="home"]')).toBeVisible();
});

test('what was typed in a field that the way back takes from the page stays out of the next view', async ({ page, runs, server }) => {
  runs.write('training');
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  await visit(page, server, '#/run/training/home');
  await page.goto(server.at('#/run/training/scalars'));
  await page.locator('[data-search]').pressSequentially('lo');
  await page.goBack();
  await expect(page.locator('[data-view="home"] [data-test="steps"]')).toContainText('72');
  await expect(page).not.toHaveURL(/q=/);
  expect(errors).toEqual([]);
});

test('dark and light are chosen and kept; both have contrast', async ({ page, runs, server }) => {
  runs.write('training');
  await visit(page, server, '#/run/training/home');
  await expect(page.locator('[data-test="steps"]')).toBeVisible();
  for (const theme of ['light', 'dark']) {
    await page.getByRole('button', { name: /^Colours/ }).click();
    await expect(page.locator('html')).toHaveAttribute('data-theme', theme);
    expect(await axeViolations(page)).toEqual([]);
    await picture(page, `home-${theme}`);
  }
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});

test('without its key the page asks for the link, and says so when the key is wrong', async ({ page, runs, server }) => {
  runs.write('training');
  await page.goto(server.at('#/'));
  await expect(page.getByRole('heading', { name: 'This page needs its key' })).toBeVisible();
  await page.getByLabel('Link').fill('http://127.0.0.1/#t=wrong');
  await page.getByRole('button', { name: 'Open' }).click();
  await expect(page.getByRole('alert')).toContainText('each start has another token');
  await page.getByLabel('Link').fill(server.url);
  await page.getByRole('button', { name: 'Open' }).click();
  await expect(page.getByRole('link', { name: 'training' })).toBeVisible();
});

test('a run that is not there is told as such', async ({ page, server }) => {
  await visit(page, server, '#/run/absent/home');
  await expect(page.locator('main [role="alert"]').first()).toContainText('there is no run');
});

test('a server that has ended is told as such', async ({ page, runs, server }) => {
  runs.write('training');
  await visit(page, server, '#/run/training/home');
  await expect(page.locator('[data-view="home"]')).toContainText('Progress');
  await expect(page.getByRole('link', { name: 'All scalars' })).toBeVisible(); // all of it is there
  server.close();
  await expect(page.getByRole('alert')).toContainText('The server does not answer', { timeout: 30_000 });
  expect(await axeViolations(page)).toEqual([]);
});
