import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { ColourChoice } from "./ColourChoice";
import { t } from "../messages/app";

afterEach(() => vi.restoreAllMocks());

it("offers the other colours at the first press where the system is dark", async () => {
  const nothing = () => undefined;
  vi.spyOn(window, "matchMedia").mockImplementation((query) => ({ matches: query.includes("dark"), media: query, addEventListener: nothing, removeEventListener: nothing }) as unknown as MediaQueryList);
  render(
    <MantineProvider defaultColorScheme="auto">
      <ColourChoice />
    </MantineProvider>,
  );
  await userEvent.click(screen.getByRole("button", { name: t("useLightMode") }));
  expect(document.documentElement.dataset.mantineColorScheme).toBe("light");
  expect(screen.getByRole("button", { name: t("useDarkMode") })).toBeTruthy();
});
