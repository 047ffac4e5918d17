import { Alert, Button, Stack } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { isRouteErrorResponse, Link, useRouteError } from "react-router";

import { Problem } from "../api/problem";
import { t } from "../messages/ui";

/** What went wrong, in the server's own words, and a way on. */
export function Failed({ error, again }: { error?: unknown; again?: () => void }) {
  const routed = useRouteError();
  const shown = error ?? routed;
  const lost = isLost(shown);
  const message = shown instanceof Error ? shown.message : lost ? t("thisPageDoesntExist") : t("somethingWentWrongOnThisPage");
  const title = lost ? t("notFound") : shown instanceof Problem && shown.code === "offline" ? t("youreOffline") : t("somethingWentWrongTitle");
  return (
    <Stack p="md" maw={640}>
      <Alert role="alert" color="red" title={title} icon={<IconAlertTriangle aria-hidden />}>
        {message}
      </Alert>
      {lost ? (
        <Button w="fit-content" variant="default" component={Link} to="/">
          {t("goToStartPage")}
        </Button>
      ) : (
        <Button w="fit-content" variant="default" onClick={again ?? (() => window.location.reload())}>
          {t("tryAgain")}
        </Button>
      )}
    </Stack>
  );
}

/** It is not there: to try again brings nobody on. */
const isLost = (error: unknown): boolean => (error instanceof Problem || isRouteErrorResponse(error)) && error.status === 404;
