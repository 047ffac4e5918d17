import { createTheme } from "@mantine/core";
import { t } from "../messages/app";

// A long list scrolls by itself: in a scroll area of its own, keys do not reach what scrolls.
const choices = { defaultProps: { withScrollArea: false }, styles: { options: { maxHeight: 240, overflowY: "auto" } } } as const;

// One accent, quiet greys, and states that are told by words and shapes first, by colour second.
export const theme = createTheme({
  primaryColor: "indigo",
  primaryShade: { light: 7, dark: 7 }, // white words on the lighter shade are a little too faint
  defaultRadius: "md",
  cursorType: "pointer",
  colors: {
    // Darker from the seventh on than usual, so that white words on it can be read.
    red: ["#fff5f5", "#ffe3e3", "#ffc9c9", "#ffa8a8", "#ff8787", "#ff6b6b", "#fa5252", "#c92a2a", "#b02525", "#981f1f"],
  },
  fontFamily:
    "Inter, ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif",
  components: {
    // A badge is read by its word; the colour of its edge only repeats it.
    Badge: {
      defaultProps: { tt: "none" },
      styles: (_: unknown, { variant }: { variant?: string }) => (variant === "outline" ? { root: { color: "var(--mantine-color-text)" } } : {}),
    },
    Autocomplete: choices,
    MultiSelect: choices,
    Select: choices,
    TagsInput: choices,
    // A button with a cross alone says nothing to those who do not see it.
    Modal: { defaultProps: { closeButtonProps: { "aria-label": t("close") } } },
    Drawer: { defaultProps: { closeButtonProps: { "aria-label": t("close") } } },
    Notification: { defaultProps: { closeButtonProps: { "aria-label": t("dismiss") } } },
  },
  headings: { fontWeight: "650" },
});
