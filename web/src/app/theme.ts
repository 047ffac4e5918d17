import { createTheme } from "@mantine/core";

// One accent, quiet greys, and states that are told by words and shapes first, by colour second.
export const theme = createTheme({
  primaryColor: "indigo",
  defaultRadius: "md",
  cursorType: "pointer",
  fontFamily:
    "Inter, ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif",
  headings: { fontWeight: "650" },
});
