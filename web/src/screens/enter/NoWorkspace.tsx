import { Text } from "@mantine/core";

import { useMe } from "../../api/me";
import { Door } from "./Door";
import { t } from "../../messages/enter";

export default function NoWorkspace() {
  const me = useMe();
  return (
    <Door title={t("noWorkspaceYet")} message={t("youreSignedInAsEmail", { email: me.email })}>
      <Text>{t("youDontBelongToAWorkspace")}</Text>
    </Door>
  );
}
