import { QueryClient } from "@tanstack/react-query";

// Answers stay fresh for a moment; live events (api/live.ts) make them stale sooner. A refused write is
// never tried again by itself: a person sees why.
export const queries = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 10_000, retry: 1, refetchOnWindowFocus: true },
    mutations: { retry: false },
  },
});
