rootProject.name = "user"
