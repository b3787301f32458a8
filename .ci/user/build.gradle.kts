// What pom.xml has, for Gradle: gradle -Prmsnorm.version=VERSION -Preleases=URL run
plugins { application }

repositories {
  maven { url = uri(property("releases")!!) }
  mavenCentral()
}

dependencies {
  implementation(platform("io.github.rmsnorm4j:rmsnorm4j-bom:${property("rmsnorm.version")}"))
  implementation("io.github.rmsnorm4j:rmsnorm4j")
  implementation("io.github.rmsnorm4j:rmsnorm4j-formats")
  implementation("io.github.rmsnorm4j:rmsnorm4j-cuda")
}

application {
  mainClass = "consumer.GoldenProgram"
  applicationDefaultJvmArgs = listOf("--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED")
}
