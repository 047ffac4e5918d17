import { Button } from "@mantine/core";
import { Link } from "react-router";

import type { Schemas } from "../../api/client";
import { useMay, useWorkspaceId } from "../../api/me";
import { t } from "../../messages/activity";

type Delivery = Schemas["Delivery"];

/** The way to the act that mends a call: to the post, to the account, or up to the buttons of the delivery. */
export function Fix({ fix, delivery }: { fix: Schemas["Attempt"]["fix"]; delivery: Delivery }) {
  const workspaceId = useWorkspaceId();
  const editor = useMay("editor");
  if (fix === null || !editor) return null;
  if (fix === "edit" || fix === "reconnect") {
    if (fix === "edit" && delivery.post_id === null) return null;
    const to = fix === "edit" ? `compose/${delivery.post_id ?? ""}` : `accounts?account=${delivery.account_id}`;
    return (
      <Button w="fit-content" mt={4} mr="xs" size="compact-xs" component={Link} to={`/w/${workspaceId}/${to}`}>
        {fix === "edit" ? t("editPost") : t("reconnectTheAccount")}
      </Button>
    );
  }
  return (
    <Button w="fit-content" mt={4} mr="xs" size="compact-xs" onClick={toMend}>
      {fix === "retry" ? t("decideWhetherToTryAgain") : t("checkTheAccountThenDecide")}
    </Button>
  );
}

export const MEND = "what-may-be-done";

function toMend() {
  document.querySelector<HTMLElement>(`#${MEND} button`)?.focus();
}
