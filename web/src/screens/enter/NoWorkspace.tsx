import { Text } from "@mantine/core";

import { useMe } from "../../api/me";
import { Door } from "./Door";

export default function NoWorkspace() {
  const me = useMe();
  return (
    <Door title="No workspace yet" says={`You are signed in as ${me.email}.`}>
      <Text>You are in no workspace. Ask its owner for an invitation; the link in it brings you in.</Text>
    </Door>
  );
}
