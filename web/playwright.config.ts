import { defineConfig } from '@playwright/test';

// Debian's Chromium, without a sandbox (tests run as root in containers), without a GPU, and silent on the network.
export const chromium = {
  executablePath: process.env.TRAINWARDEN_CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
  ],
};

const out = process.env.TRAINWARDEN_E2E_OUT ?? '../build/page';

export default defineConfig({
  testDir: 'e2e',
  outputDir: `${out}/failures`,
  fullyParallel: true,
  workers: 2,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: [['line'], ['junit', { outputFile: `${out}/e2e.xml` }]],
  use: {
    browserName: 'chromium',
    launchOptions: chromium,
    viewport: { width: 1280, height: 860 },
    colorScheme: 'light',
    screenshot: 'only-on-failure',
    trace: 'off',
  },
});
