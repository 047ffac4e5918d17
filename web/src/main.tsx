// Mounts the app: theme, data, routes. Everything else is a screen (app/screens.ts) or a part of one.
import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./app/base.css";

import { MantineProvider } from "@mantine/core";
import { ModalsProvider } from "@mantine/modals";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router";

import { queries } from "./api/queries";
import { router } from "./app/routes";
import { theme } from "./app/theme";
import { Toasts } from "./app/Toasts";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queries}>
        <ModalsProvider>
          <RouterProvider router={router} />
          <Toasts />
        </ModalsProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
