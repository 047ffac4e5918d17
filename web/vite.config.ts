import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// `npm run dev` speaks to a running `cadenza up`; the build goes into the Python package.
export default defineConfig({
  plugins: [react()],
  server: { port: 5173, proxy: { "/api": "http://127.0.0.1:8000", "/media": "http://127.0.0.1:8000" } },
  build: { outDir: "../src/cadenza/_ui", emptyOutDir: true, target: "es2023", sourcemap: false },
});
