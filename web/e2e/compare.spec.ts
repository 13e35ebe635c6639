import { axeViolations, expect, picture, test, visit } from './harness';

test('two runs part where their weights do', async ({ page, runs, server }) => {
  runs.write('training', 'first');
  runs.write('apart', 'second');
  await visit(page, server, '#/run/first/compare');
  await page.getByLabel('Other run').selectOption('second');
  // From the training's step 40 on conv1.weight is half a unit off; eight evaluations came before it.
  await expect(page.locator('.compare-verdict')).toHaveText('first and second part at step 48 (train 40), first in conv1.weight.');
  await expect(page.locator('[data-partings] tbody tr')).toHaveCount(1);
  await expect(page.locator('[data-partings]')).toContainText('72 of 72 elements differ');
  await expect(page.locator('tr[data-differs="true"]').filter({ hasText: 'learning_rate' })).toContainText('0.10.2');
  await expect(page.getByRole('img', { name: /^train_loss over steps 0 to 70: first ends at 0\.03333, not finite at 1 place \(first step 20\)/ })).toBeVisible();
  expect(page.url()).toContain('b=%40second');
  await picture(page, 'compare');
  await page.getByRole('button', { name: /Go to step 48/ }).click();
  expect(page.url()).toContain('step=48');
  expect(await axeViolations(page)).toEqual([]);
});

test('the same numbers do not part', async ({ page, runs, server }) => {
  runs.write('training', 'first');
  runs.write('training', 'again');
  await visit(page, server, '#/run/first/compare?b=%40again');
  await expect(page.locator('.compare-verdict')).toContainText('first and again are the same');
});

test('names that try to be markup are words', async ({ page, runs, server }) => {
  runs.write('hostile', 'one');
  runs.write('hostile', 'two');
  await visit(page, server, '#/run/one/compare?b=%40two&same=1');
  await expect(page.locator('.compare-verdict')).toContainText('one and two are the same');
  await expect(page.locator('.compare-fields')).toContainText("<script>document.title='owned'</script>");
  await page.goto(server.at('#/run/one/rules?rule=ExplodingTensor&if.tensor_regex=weight'));
  await expect(page.locator('.what-if-answer')).toBeVisible();
  await page.goto(server.at('#/run/one/confusion'));
  await expect(page.getByText('No tensors of labels and predictions were found')).toBeVisible();
  expect(await page.title()).not.toContain('owned');
  await expect(page.locator('main img')).toHaveCount(0);
});
