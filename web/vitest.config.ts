import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react()],
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/test/setup.ts"],
    isolate: false, // files share what they import: a sixth of the time
    testTimeout: 60_000, // as long as a busy machine may take: that is no failure
  },
});
