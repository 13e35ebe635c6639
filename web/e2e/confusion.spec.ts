import { axeViolations, expect, picture, test, visit } from './harness';

// At each evaluation eight samples of each of four classes: of class c those with i % 4 == 3 are taken for c + 1, and as
// a sample's class is (i + step) % 4, they are all of the class (3 + step) % 4.
test('the confusion matrix has the numbers that follow from labels and predictions', async ({ page, runs, server }) => {
  runs.write('training');
  await visit(page, server, '#/run/training/confusion?step=5');
  const view = page.locator('[data-view="confusion"]');
  await expect(view).toHaveAttribute('data-step', '5'); // the evaluation behind the training's step 4
  await expect(page.locator('[data-summary]')).toContainText('Accuracy 75.0 %');
  await expect(page.locator('[data-summary]')).toContainText('32 samples of 4 classes');
  await expect(page.locator('[data-summary]')).toContainText('dog for ant (8)');
  await expect(page.locator('[data-classes] tbody tr')).toHaveText([/^ant8168?50\.0 %.*100\.0 %/, /^bee88/, /^cat88/, /^dog80.*0\.0 %/]);

  const matrix = page.getByRole('group', { name: /Confusion matrix/ });
  await matrix.focus();
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
  await expect(page.locator('[data-cell]')).toHaveText("dog taken for ant: 8 of 32 samples, 100.0 % of the label's 8, 50.0 % of the prediction's 16");
  expect(page.url()).toContain('cell=3%2C0');
  await expect(page.locator('[data-samples] li')).toHaveText('step 5: 3, 7, 11, 15, 19, 23, 27, 31');
  await picture(page, 'confusion');

  await page.locator('#confusion-span').selectOption('all');
  await page.locator('#confusion-mode').selectOption('eval');
  await page.goto(server.at('#/run/training/confusion?step=71&span=all&mode=eval&norm=counts'));
  await expect(page.locator('[data-summary]')).toContainText('384 samples of 4 classes, 12 steps from 5 to 71');
  await page.getByText('As a table').click();
  await expect(page.getByRole('group', { name: 'The matrix as a table' }).locator('tbody tr').first()).toContainText('ant72240');
  await picture(page, 'confusion-all');
  expect(await axeViolations(page)).toEqual([]);
});

test('the matrix is compared with another step', async ({ page, runs, server }) => {
  runs.write('training');
  await visit(page, server, '#/run/training/confusion?step=11&b=5');
  // At step 5 dogs were taken for ants, at step 11 ants for bees.
  await expect(page.locator('[data-other]')).toContainText('B: Accuracy 75.0 %');
  await page.getByRole('group', { name: /Confusion matrix/ }).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await expect(page.locator('[data-cell]')).toHaveText("ant taken for bee: 8 of 32 samples, 100.0 % of the label's 8, 50.0 % of the prediction's 16; in B 0 of 32, 0.0 % of the label's 8: +100.0 points");
  await expect(page.locator('[data-classes] thead th').last()).toHaveText('F1 in B');
  await expect(page.locator('[data-classes] thead th').last()).toBeInViewport({ ratio: 1 }); // as all columns, it has a heading in sight
  expect(await page.locator('.confusion-side').evaluate((side) => side.scrollWidth - side.clientWidth)).toBe(0);
  await picture(page, 'confusion-difference');
});
