import { Button } from "@mantine/core";
import { IconPlugConnected } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Link } from "react-router";

import { useMay, useWorkspaceId } from "../api/me";
import { Empty } from "./Empty";
import { Page } from "./Page";
import { t } from "../messages/ui";

/** A screen that is about accounts, before there is one. */
export function NoAccount({ screen, children }: { screen: string; children: ReactNode }) {
  const workspaceId = useWorkspaceId();
  const mayConnect = useMay("admin");
  return (
    <Page title={screen}>
      <Empty
        icon={IconPlugConnected}
        title={t("noAccountYet")}
        action={
          mayConnect && (
            <Button component={Link} to={`/w/${workspaceId}/accounts?connect`}>
              {t("connectAnAccount")}
            </Button>
          )
        }
      >
        {children}
      </Empty>
    </Page>
  );
}
