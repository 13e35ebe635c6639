import { expect, picture, test, visit } from './harness';

test('the page opens with the token of its link, and forgets it', async ({ page, runs, server }) => {
  runs.write('training');
  await visit(page, server);
  await expect(page.getByText('training').first()).toBeVisible();
  expect(page.url()).not.toContain('t=');
  await picture(page, 'runs');
});
