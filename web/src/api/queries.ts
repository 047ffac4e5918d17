import { QueryClient } from "@tanstack/react-query";

// Answers stay fresh for a moment; live events (api/live.ts) make them stale sooner. A refused write is
// never tried again by itself: a person sees why. Without a line nothing is kept back to be sent later behind
// a person's back: it fails at once and says so.
export const queries = new QueryClient({
  defaultOptions: {
    queries: { networkMode: "always", staleTime: 10_000, retry: 1, refetchOnWindowFocus: true },
    mutations: { networkMode: "always", retry: false },
  },
});
